SELECT endpoint, key_name, model FROM endpoint_limits
