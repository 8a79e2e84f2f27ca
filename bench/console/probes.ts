/** What runs in the page to measure it: texts, because the bench itself has no document. */

/** Also waits until the new state has been painted. */
const PAINTED = "await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));";

const PATIENCE_MS = 30_000;

/** What stands for something that is not there yet. */
const LOADING = ".mantine-Loader-root, .mantine-Skeleton-root";

/**
 * Clicks a link of the navigation and returns the milliseconds until its screen has its heading and all that
 * it asked for, as painted.
 */
export const timeToScreen = (path: string): string => `(async () => {
  const link = document.querySelector('nav a[href=${JSON.stringify(path)}]');
  if (link === null) throw new Error("no link to ${path}");
  const before = document.querySelector("main#content h1");
  const startedAt = performance.now();
  link.click();
  const isThere = () => {
    const heading = document.querySelector("main#content h1");
    return location.pathname === ${JSON.stringify(path)} && heading !== null && heading !== before
      && document.querySelector("main#content").querySelector("${LOADING}") === null;
  };
  while (!isThere()) {
    if (performance.now() - startedAt > ${PATIENCE_MS}) throw new Error("${path} is not shown");
    await new Promise(requestAnimationFrame);
  }
  ${PAINTED}
  return performance.now() - startedAt;
})()`;

/** Notes the tasks of the main thread that take long, and the frames in which a row of the list is blank. */
export const WATCH_SCROLLING = `(() => {
  const seen = { longest: 0, frames: 0, blank: 0 };
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) seen.longest = Math.max(seen.longest, duration);
  }).observe({ type: "longtask" });
  const look = () => {
    const { left, width } = document.querySelector("main#content").getBoundingClientRect();
    const inWindow = [0.4, 0.6, 0.8].map((part) =>
      document.elementFromPoint(left + width / 2, innerHeight * part)?.closest("[role=row]"));
    seen.frames += 1;
    if (inWindow.some((row) => (row?.textContent ?? "").trim() === "")) seen.blank += 1;
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
  window.holdfastScrolling = seen;
})()`;

export const SCROLLING = "window.holdfastScrolling";

/** Notes for each key how long it takes from its press to the next painted frame. */
export const WATCH_TYPING = `(() => {
  window.holdfastTyping = [];
  addEventListener("keydown", ({ timeStamp }) => {
    requestAnimationFrame(() => setTimeout(() => window.holdfastTyping.push(performance.now() - timeStamp)));
  }, { capture: true });
})()`;

export const TYPING = "window.holdfastTyping";
