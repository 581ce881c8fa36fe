// Keyboard shortcuts of single keys.

/** Whether key presses belong to the element: fields, lists, and whatever is edited. */
export function takesKeys(element) {
  if (!element || !element.closest) return false;
  return Boolean(
    element.closest(
      "textarea, select, [contenteditable], input:not([type=checkbox], [type=button])",
    ),
  );
}

/** The name of a shortcut for a key event, or null if it is not one. */
export function shortcut(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) {
    return null;
  }
  if (["ArrowLeft", "ArrowRight", "?"].includes(event.key)) return event.key;
  return /^[a-z1-9]$/i.test(event.key) ? event.key.toLowerCase() : null;
}

/**
 * Runs actions by key, unless a field has the focus or they are not active. A key that another
 * listener has used, such as one of a dialog that it closed, is not used again.
 * @param {Record<string, () => void>} actions
 * @param {() => boolean} active
 */
export function bindKeys(target, actions, active) {
  target.addEventListener("keydown", (event) => {
    const key = event.defaultPrevented ? null : shortcut(event);
    if (!key || !Object.hasOwn(actions, key) || takesKeys(event.target) || !active()) return;
    event.preventDefault();
    actions[key]();
  });
}
