SELECT send_feedback($1, $2) AS "status!"
