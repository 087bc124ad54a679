// Run in a page: what a reader of its diagrams could not read. Each fault is a line that names the diagram.
() => {
  const SMALLEST = 10; // pixels
  const shrink = (box, by) => ({ left: box.left + by, right: box.right - by, top: box.top + by, bottom: box.bottom - by });
  const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const faults = [];
  for (const svg of document.querySelectorAll("svg.course-diagram")) {
    const ground = svg.getBoundingClientRect();
    if (!ground.width) continue; // in a fold
    const name = svg.querySelector("title").textContent;
    const scale = ground.width / svg.viewBox.baseVal.width;
    const texts = [...svg.querySelectorAll("text")].map((text) => ({ text: text.textContent, size: scale * parseFloat(getComputedStyle(text).fontSize), box: text.getBoundingClientRect() }));
    for (const { text, size, box } of texts) {
      if (size < SMALLEST) faults.push(`${name}: "${text}" is ${size.toFixed(1)} pixels high`);
      const inside = shrink(ground, -1);
      if (box.left < inside.left || box.right > inside.right || box.top < inside.top - 2 || box.bottom > inside.bottom + 2) faults.push(`${name}: "${text}" is cut off`);
    }
    texts.forEach((first, index) => {
      for (const second of texts.slice(index + 1)) {
        if (overlap(shrink(first.box, 2.5), shrink(second.box, 2.5))) faults.push(`${name}: "${first.text}" lies on "${second.text}"`);
      }
    });
  }
  return faults;
};
