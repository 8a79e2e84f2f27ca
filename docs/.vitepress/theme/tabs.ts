/** Whoever takes the tab of one language has it in all other groups too, and on the pages after. */

const KEPT = "holdfast-tab";

interface Tab {
  readonly input: HTMLInputElement;
  readonly name: string;
}

const tabsOf = (group: Element): Tab[] =>
  [...group.querySelectorAll<HTMLInputElement>(".tabs input")].map((input) => ({
    input,
    name: input.nextElementSibling?.textContent ?? "",
  }));

/** Calls for each group that has this tab and shows another one. */
export function showTab(name = localStorage.getItem(KEPT)): void {
  for (const group of document.querySelectorAll(".vp-code-group")) {
    const tab = tabsOf(group).find((one) => one.name === name);
    if (tab !== undefined && !tab.input.checked) tab.input.click();
  }
}

/** Listens for choices by pointer and by keyboard, which a browser reports as clicks too. */
export function followTabs(): void {
  addEventListener("click", ({ target, isTrusted }) => {
    if (!isTrusted || !(target instanceof HTMLInputElement)) return;
    const group = target.closest(".vp-code-group");
    const tab = group === null ? undefined : tabsOf(group).find(({ input }) => input === target);
    if (group === null || tab === undefined) return;
    localStorage.setItem(KEPT, tab.name);
    // Blocks above may change their heights; what was clicked stays where it is.
    const before = group.getBoundingClientRect().top;
    showTab(tab.name);
    scrollBy({ top: group.getBoundingClientRect().top - before, behavior: "instant" });
  });
}
