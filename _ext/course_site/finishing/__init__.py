"""What goes through the HTML and the styles that others have written: lighter, faster, better to read on a phone.

The site builds without all of it: `course_finishing: false` in `_config.yml`, under `sphinx: config:`, turns it off. So
a pin that moves and breaks one of these keeps nobody from publishing.
"""
