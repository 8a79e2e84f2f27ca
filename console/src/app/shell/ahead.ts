/** Loads what people are likely to open next, while the page has nothing else to do. */
import type { AnyRouter } from "@tanstack/react-router";

/** What the first screen asks for comes first. */
const AFTER_MS = 500;
const SCREENS = [
  "/spaces/$spaceId",
  "/documents/$documentId",
  "/search",
  "/chat",
  "/agents",
  "/people",
  "/keys",
] as const;

/** Not every browser has `requestIdleCallback`. */
const whenIdle = (): Promise<void> =>
  new Promise((resolve) => {
    if ("requestIdleCallback" in globalThis) requestIdleCallback(() => resolve());
    else setTimeout(resolve, AFTER_MS);
  });

/** @returns a function that ends it. A file that cannot be loaded now is loaded when it is needed. */
export function loadAhead(router: AnyRouter, loadPalette: () => Promise<unknown>): () => void {
  let isEnded = false;
  const load = async (): Promise<void> => {
    await loadPalette();
    for (const path of SCREENS) {
      await whenIdle();
      if (isEnded) return;
      await router.loadRouteChunk(router.routesByPath[path]);
    }
  };
  const timer = setTimeout(() => void load().catch(() => undefined), AFTER_MS);
  return () => {
    isEnded = true;
    clearTimeout(timer);
  };
}
