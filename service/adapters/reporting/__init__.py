"""Reports on the log as HTML, Markdown and JSON; every text in them is a stranger's."""
