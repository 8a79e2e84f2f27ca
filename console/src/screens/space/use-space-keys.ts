import { useMessages } from "../../messages/messages.ts";
import { type Shortcut, useShortcuts } from "../../parts/shortcuts.tsx";
import type { Rights } from "./access.ts";
import type { DocumentActions } from "./actions/document-actions.tsx";
import type { ListState } from "./list/use-list.ts";
import { messages } from "./messages.ts";
import type { SpaceRefs } from "./space-view.tsx";

interface Options {
  readonly refs: SpaceRefs;
  readonly list: ListState;
  readonly documents: DocumentActions;
  readonly rights: Rights;
  readonly openSettings: () => void;
  readonly newFolder: () => void;
}

/** The keys of the screen; what the person may not do has none. */
export function useSpaceKeys({ refs, list, documents, rights, openSettings, newFolder }: Options): void {
  const texts = useMessages(messages).keys;
  const { activeDocument } = list;
  const reading: Shortcut[] = [
    { keys: "/", label: texts.search, run: () => refs.search.current?.focus() },
    { keys: "l", label: texts.list, run: () => refs.grid.current?.focus() },
    {
      keys: "t",
      label: texts.tree,
      run: () => refs.tree.current?.querySelector<HTMLElement>("[tabindex='0']")?.focus(),
    },
    {
      keys: "i",
      label: texts.why,
      run: () => activeDocument !== undefined && documents.explain(activeDocument),
    },
  ];
  const writing: Shortcut[] = [
    { keys: "u", label: texts.upload, run: () => refs.files.current?.click() },
    { keys: "n", label: texts.newFolder, run: newFolder },
    { keys: "a", label: texts.selectAll, run: list.selectAll },
    { keys: "m", label: texts.move, run: documents.move },
    { keys: "r", label: texts.reprocess, run: documents.reprocess },
    { keys: "Delete", label: texts.remove, run: documents.remove },
    { keys: "Escape", label: texts.clear, run: list.clear },
  ];
  useShortcuts([
    ...(rights.canRead ? reading : []),
    ...(rights.canWrite ? writing : []),
    ...(rights.canManage ? [{ keys: ",", label: texts.settings, run: openSettings }] : []),
  ]);
}
