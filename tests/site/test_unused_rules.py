"""The large style sheets hold all rules that fit an element of a page, and few that fit none."""

from pathlib import Path

import myst_nb
import pydata_sphinx_theme
import pytest
import tinycss2
from choosing import weekly
from course_site.finishing.unused_rules import with_used
from visits import IN_ALL_MODES

THEME = Path(pydata_sphinx_theme.__file__).parent / "theme" / "pydata_sphinx_theme" / "static"
ORIGINALS = {
    "styles/bootstrap.css": THEME / "styles" / "bootstrap.css",
    "styles/pydata-sphinx-theme.css": THEME / "styles" / "pydata-sphinx-theme.css",
    "mystnb.*.css": Path(myst_nb.__file__).parent / "static" / "mystnb.css",
}

ON_EACH_CHANGE = ["chapters/self_attention.html", "instructors/index.html", "search.html"]

# How many elements of a page each set of declarations fits, whatever is pointed at, focused or pressed.
FITTING = r"""async (text) => {
  const passing = /::[\w-]+|:(before|after|hover|active|visited|focus|focus-visible|focus-within)(?![\w-])/g;
  const sheet = await new CSSStyleSheet().replace(text);
  const fitting = {};
  const count = (rules, where) => {
    for (const { selectorText, style, cssRules, conditionText } of rules) {
      if (cssRules?.length) count(cssRules, `${where} ${conditionText}`);
      if (!selectorText) continue;
      const asked = selectorText.replace(/:not\([^()]*\)/g, (not) => not.replace(passing, ":not(*)"));
      const always = asked.replace(passing, "").replace(/(^|[ >+~,])(?=,|$)/g, "$1*");
      const found = document.querySelectorAll(always).length;
      const declared = `${where} ${style.cssText}`;
      if (found) fitting[declared] = (fitting[declared] ?? 0) + found;
    }
  };
  count(sheet.cssRules, "");
  return fitting;
}"""


def shipped(site, sheet):
    (file,) = (site / "_static").glob(sheet)
    return file.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", [*ON_EACH_CHANGE, *map(weekly, sorted(IN_ALL_MODES - {*ON_EACH_CHANGE}))])
def test_what_fits_an_element_stays(page, site, open_page, origin):
    opened = open_page(f"{origin}/{page}", "light", "phone").page
    for sheet, original in ORIGINALS.items():
        fitting = opened.evaluate(FITTING, original.read_text(encoding="utf-8"))
        assert fitting
        assert opened.evaluate(FITTING, shipped(site, sheet)) == fitting, sheet


@pytest.mark.parametrize(("sheet", "most"), [*zip(ORIGINALS, (0.3, 0.7, 0.4), strict=True)])
def test_much_of_each_goes(sheet, most, site):
    assert len(shipped(site, sheet)) < most * len(ORIGINALS[sheet].read_text(encoding="utf-8"))


def test_an_arrow_points_from_a_tooltip_to_its_button(open_page, origin):
    """The class of where it stands is put together by Bootstrap's script."""
    page = open_page(f"{origin}/chapters/masking.html", "light", "desktop").page
    page.locator(".theme-switch-button:visible").hover()
    arrow = page.locator(".tooltip.show .tooltip-arrow")
    arrow.wait_for()
    assert arrow.evaluate("arrow => getComputedStyle(arrow, '::before').borderTopWidth") == "0px"


def test_a_rule_needs_its_classes_and_ids():
    """Tags, attributes and what stands in brackets need nothing; a rule without anyone left goes, and its condition."""
    rules = tinycss2.parse_stylesheet(
        'a[href=".gone"]{b:c}.there,.gone .there,#gone{b:c}.there:not(.gone)>i{b:c}.gone.there{b:c}'
        ".made-later{b:c}.made{b:c}.-a{b:c}@media print{.gone{b:c}}@media print{.gone,#there{b:c}}"
        "@font-face{b:c}@keyframes gone{to{b:c}}"
    )
    assert tinycss2.serialize(list(with_used(rules, {"there", "made-", "-"}))) == (
        'a[href=".gone"]{b:c}.there{b:c}.there:not(.gone)>i{b:c}'
        ".made-later{b:c}@media print{#there{b:c}}@font-face{b:c}@keyframes gone{to{b:c}}"
    )
