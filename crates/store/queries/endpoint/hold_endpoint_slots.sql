SELECT granted AS "granted!", contested AS "contested!" FROM hold_endpoint_slots($1, $2, $3, $4, $5, $6, $7)
