// Run in a page by conftest.py: how lines of code wrap. For each line that does: its spaces, how far off its second row
// starts, and how far in it should.
() =>
  [...document.querySelectorAll(".cell_input .code-line")].flatMap((line) => {
    const range = document.createRange();
    range.selectNodeContents(line);
    const rects = [...range.getClientRects()].filter((rect) => rect.width > 0);
    const second = rects.find((rect) => rects[0] && rect.top > rects[0].top + 5);
    if (!second) return [];
    const spaces = line.textContent.match(/^ */)[0].length;
    const column = parseFloat(getComputedStyle(line).paddingLeft);
    const left = line.getBoundingClientRect().left;
    return [[spaces, Math.round(second.left - left - column), column]];
  });
