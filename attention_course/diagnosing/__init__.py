"""How `diagnose` comes to know what is wrong with an attention: one kind of question a file."""
