/** The attribute of elements whose contrast axe measures. */
export const contrastSample = "data-contrast-sample";

/**
 * Runs in the page: marks one text of every combination of text style and surface. Contrast follows from these alone, and
 * axe needs three times as long for all texts as for all other rules. Every positioned text is a sample: it may cover
 * something else.
 */
export const markContrastSamples = `(() => {
  const surfaces = new Map([[null, ""]]);
  const describeSurface = (element) => {
    const known = surfaces.get(element);
    if (known !== undefined) return known;
    const { backgroundColor, backgroundImage, filter, mixBlendMode, opacity, position } = getComputedStyle(element);
    const own = [backgroundColor, backgroundImage, filter, mixBlendMode, opacity, position].join();
    const parent = describeSurface(element.parentElement);
    const surface = own === "rgba(0, 0, 0, 0),none,none,normal,1,static" ? parent : parent + "|" + own;
    surfaces.set(element, surface);
    return surface;
  };
  const hasText = (element) =>
    element.matches("input, select, textarea") ||
    [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim() !== "");
  const seen = new Set();
  for (const element of document.querySelectorAll("body, body *")) {
    element.removeAttribute("${contrastSample}");
    if (!hasText(element) || !element.checkVisibility()) continue;
    const { color, fontSize, fontWeight, position, textShadow } = getComputedStyle(element);
    const isDisabled = element.closest(":disabled, [aria-disabled=true]") !== null;
    const style = [color, fontSize, fontWeight, textShadow, isDisabled, describeSurface(element)].join();
    if (seen.has(style) && position === "static") continue;
    seen.add(style);
    element.setAttribute("${contrastSample}", "");
  }
})()`;
