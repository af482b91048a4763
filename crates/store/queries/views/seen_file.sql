SELECT workspace_file($1, $2)
