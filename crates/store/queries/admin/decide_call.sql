SELECT decide_call($1, $2, $3, $4, 'command') AS "state!"
