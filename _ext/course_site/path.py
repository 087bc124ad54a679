"""Next and Previous keep to the path: from lesson to lesson. Further pages lie beside it, and lead back to it."""

from html import escape

OPTIONAL = '<p class="course-optional">Optional</p>'


def lessons_of(env):
    """The lessons in the order of the book, the front page first, and for each further page its lesson."""
    toc = env.app.config.external_site_map
    path = [toc.root.docname, *(str(lesson) for part in toc.root.subtrees for lesson in part.items)]
    sections = {lesson: toc[lesson].subtrees for lesson in path[1:] if lesson in toc}
    return path, {str(page): lesson for lesson, trees in sections.items() for tree in trees for page in tree.items}


def link(app, origin, page):
    """What a template needs of a neighbour, its title as HTML; `None` where there is none."""
    if page is None:
        return None
    return {"link": app.builder.get_relative_uri(origin, page), "title": escape(app.env.titles[page].astext())}


def keep_to_the_path(app, pagename, templatename, context, doctree):
    """Lead a lesson to its neighbours; a further page to its lesson, and to the lesson after it."""
    path, lesson_of = lessons_of(app.env)
    lesson = lesson_of.get(pagename, pagename)
    if lesson not in path or not pagename.startswith((path[0], "chapters/")):
        return
    place = path.index(lesson)
    before = path[place - 1] if place else None
    after = path[place + 1] if place + 1 < len(path) else None
    context["prev"] = link(app, pagename, before if lesson == pagename else lesson)
    context["next"] = link(app, pagename, after)
    if lesson != pagename:
        context["body"] = context["body"].replace("<h1>", f"{OPTIONAL}\n<h1>", 1)  # no part of what is searched


def setup(app):
    """Connect to the writing of pages."""
    app.connect("html-page-context", keep_to_the_path)
