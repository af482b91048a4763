SELECT document_content FROM jobs WHERE id = $1
