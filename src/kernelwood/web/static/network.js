// The drawing of facts as a network, which can be enlarged and moved.

import { button, el, svg } from "./dom.js";
import { panned, zoomed } from "./geometry.js";
import { counted, decimal } from "./text.js";

/**
 * The drawing; `choose(first, second)` is called for a line, `choose(name)` for a box.
 * It begins with all of the drawing, in a frame of the given width, not larger than it is.
 */
export function network(drawing, palette, choose, width) {
  const beside = Math.max(0, width - drawing.width) / 2;
  const { height } = drawing;
  const full = { x: -beside, y: 0, width: drawing.width + 2 * beside, height };
  let view = full;
  const lines = drawing.edges.map((edge) => {
    const text = `${edge.first} ${edge.type} ${edge.second}: ${counted(edge.count, "relation")}, probability ${decimal(edge.probability)}`;
    return svg(
      "g",
      {
        class: `edge ${palette.relation(edge.type)}`,
        role: "button",
        tabindex: "0",
        "aria-label": text,
        click: () => choose(edge.first, edge.second),
        keydown: onEnter(() => choose(edge.first, edge.second)),
      },
      svg("title", {}, text),
      svg("path", { class: "touch", d: edge.path }),
      svg("path", { class: "arc", d: edge.path, "stroke-width": edge.thickness }),
      edge.head ? svg("path", { class: "head", d: edge.head }) : null,
    );
  });
  const boxes = drawing.nodes.map((node) =>
    svg(
      "g",
      {
        class: `node ${palette.entity(node.type)}`,
        role: "button",
        tabindex: "0",
        "aria-label": `Facts of ${node.name}`,
        click: () => choose(node.name),
        keydown: onEnter(() => choose(node.name)),
      },
      svg("rect", {
        x: node.x - node.width / 2,
        y: node.y - node.height / 2,
        width: node.width,
        height: node.height,
        rx: 6,
      }),
      svg("text", { x: node.x, y: node.y + 4, "text-anchor": "middle" }, node.name),
    ),
  );
  const picture = svg(
    "svg",
    {
      class: "network",
      role: "group",
      tabindex: "0",
      "aria-describedby": "network-help",
      "aria-label": `Network of ${counted(drawing.nodes.length, "entity", "entities")} and ${counted(drawing.edges.length, "fact")}`,
    },
    lines,
    boxes,
  );
  const draw = () =>
    picture.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
  const zoom = (factor, x = view.x + view.width / 2, y = view.y + view.height / 2) => {
    view = zoomed(view, factor, x, y, full);
    draw();
  };
  const pan = (dx, dy) => {
    view = panned(view, dx, dy, full);
    draw();
  };
  const reset = () => {
    view = full;
    draw();
  };
  bindPointer(picture, { zoom, pan });
  picture.addEventListener("keydown", (event) => {
    const step = view.width / 10;
    const run = {
      "+": () => zoom(1.25),
      "=": () => zoom(1.25),
      "-": () => zoom(0.8),
      0: reset,
      ArrowLeft: () => pan(-step, 0),
      ArrowRight: () => pan(step, 0),
      ArrowUp: () => pan(0, -step),
      ArrowDown: () => pan(0, step),
    }[event.key];
    if (!run || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    run();
  });
  draw();
  return el(
    "div",
    { class: "network-frame" },
    el(
      "div",
      { class: "network-buttons" },
      button("+", { "aria-label": "Enlarge", click: () => zoom(1.25) }),
      button("−", { "aria-label": "Reduce", click: () => zoom(0.8) }),
      button("Show all", { click: reset }),
    ),
    picture,
    el(
      "p",
      { class: "soft", id: "network-help" },
      "Thicker lines have more relations; a line or a box filters the table. Enlarge with + and −, move with the arrow keys or by dragging, zoom with Ctrl and the wheel, 0 shows all.",
    ),
  );
}

function onEnter(run) {
  return (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    run();
  };
}

function bindPointer(picture, { zoom, pan }) {
  const point = (event) => {
    const matrix = picture.getScreenCTM();
    return new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
  };
  // The wheel alone scrolls the page, which would otherwise stop here.
  picture.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const { x, y } = point(event);
      zoom(2 ** (-event.deltaY / 300), x, y);
    },
    { passive: false },
  );
  let last = null;
  let moved = false;
  picture.addEventListener("pointerdown", (event) => {
    last = event.isPrimary ? event : null;
    moved = false;
  });
  picture.addEventListener("pointermove", (event) => {
    if (!last || !event.buttons) return;
    const [x, y] = [event.clientX - last.clientX, event.clientY - last.clientY];
    if (!moved && Math.hypot(x, y) < 4) return;
    moved = true;
    picture.setPointerCapture(event.pointerId);
    const unit = 1 / picture.getScreenCTM().a;
    pan(-x * unit, -y * unit);
    last = event;
  });
  picture.addEventListener("pointerup", () => {
    last = null;
  });
  // A drag that ends on a line does not choose it.
  picture.addEventListener(
    "click",
    (event) => {
      if (moved) event.stopPropagation();
      moved = false;
    },
    true,
  );
}
