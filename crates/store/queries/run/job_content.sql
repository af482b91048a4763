SELECT substring(document_content FROM $2 FOR $3) FROM jobs WHERE id = $1
