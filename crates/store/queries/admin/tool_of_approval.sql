SELECT tool FROM approvals WHERE id = $1
