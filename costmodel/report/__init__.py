"""Reports: predictions and studies as text, markdown, HTML, CSV and JSON, in English and Korean."""
