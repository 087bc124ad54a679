"""Where the live model runs, with a made-up model: what a question that fails does to the next."""

from attention_course.explore.bundle import join
from attention_course.explore.explorer import VIEWS

ASK = """async () => {
  const engine = () => function* (question) {
    yield;
    if (question < 0) throw new Error("no answer");
    return 2 * question;
  };
  const told = (promise) => promise.then((answer) => answer, (error) => error.message);
  const host = makeHost(engine, {}, {});
  const first = host.ask(-1);
  const ready = told(host.ready);
  const answers = [await told(first), await told(host.ask(2)), await told(host.ask(-3)), await told(host.ask(4))];
  const broken = makeHost(() => { throw new Error("damaged weights"); }, {}, {});
  return [...answers, await ready, await told(broken.ask(1)), await told(broken.ask(1))];
}"""


def test_a_question_that_fails_does_not_take_the_next_with_it(browser):
    page = browser.new_page()
    page.set_content("<!doctype html><title>A host</title>")
    script = join(VIEWS / "live" / "host.js").replace("export const", "const")
    page.add_script_tag(content=f"{script}\nglobalThis.makeHost = makeHost;", type="module")
    assert page.evaluate(ASK) == ["no answer", 4, "no answer", 8, "no answer", "damaged weights", "damaged weights"]
    page.close()
