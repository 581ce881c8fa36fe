// The sidebar shows the entry of the page.
document.addEventListener("DOMContentLoaded", () => {
  const entry = document.querySelector(".sidebar-tree .current-page");
  const box = document.querySelector(".sidebar-scroll");
  if (!entry || !box) return;
  const place = entry.getBoundingClientRect().top - box.getBoundingClientRect().top;
  if (place < box.clientHeight - 40) return;
  const top = box.scrollTop + place - box.clientHeight / 2;
  box.scrollTo({ top, behavior: "instant" });
});
