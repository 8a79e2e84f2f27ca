/** What can be done with documents: with one by its menu, with those that are selected by the bar or keys. */
import type { Document } from "@holdfast/client";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useHoldfast } from "../../../app/context.ts";
import { useMessages } from "../../../messages/messages.ts";
import { ConfirmDeletion } from "../../../parts/confirm-deletion.tsx";
import type { ListState } from "../list/use-list.ts";
import { messages as listMessages } from "../messages.ts";
import { StateDialog } from "../state/state-dialog.tsx";
import { type Target, deletionOf, targetOf } from "./bulk.ts";
import { type MenuEntry, MenuAt } from "./menu-at.tsx";
import { messages } from "./messages.ts";
import { MoveDialog } from "./move-dialog.tsx";
import type { Bulk } from "./use-bulk.tsx";
import { nameOf } from "../documents.ts";

type Asked =
  | { readonly kind: "move" | "remove"; readonly target: Target; readonly count: number }
  | { readonly kind: "why"; readonly document: Document }
  | { readonly kind: "menu"; readonly document: Document; readonly at: DOMRect };

interface Options {
  readonly spaceId: string;
  readonly list: ListState;
  readonly bulk: Bulk;
  readonly canWrite: boolean;
}

export interface DocumentActions {
  readonly open: (document: Document) => void;
  readonly openMenu: (document: Document, at: DOMRect) => void;
  readonly explain: (document: Document) => void;
  /** Of what is selected, or else of the document that the keyboard is at. */
  readonly move: () => void;
  readonly reprocess: () => void;
  readonly remove: () => void;
  readonly dialogs: ReactNode;
}

export function useDocumentActions({ spaceId, list, bulk, canWrite }: Options): DocumentActions {
  const texts = useMessages(messages);
  const { list: listTexts } = useMessages(listMessages);
  const holdfast = useHoldfast();
  const navigate = useNavigate();
  const [asked, setAsked] = useState<Asked | null>(null);
  const close = (): void => setAsked(null);
  const open = ({ id }: Document): void =>
    void navigate({ to: "/documents/$documentId", params: { documentId: id } });
  const explain = (document: Document): void => setAsked({ kind: "why", document });
  const selected = (): { target: Target; count: number } | null => {
    if (list.count > 0) return { target: targetOf(list.selection, list.question), count: list.count };
    const { activeDocument } = list;
    return activeDocument === undefined ? null : { target: { document_ids: [activeDocument.id] }, count: 1 };
  };
  const ask = (kind: "move" | "remove"): void => {
    const of = selected();
    if (of !== null && canWrite) setAsked({ kind, ...of });
  };
  const entriesOf = (document: Document): MenuEntry[] => {
    const target = { document_ids: [document.id] };
    const reading = [
      { label: texts.open, run: () => open(document) },
      { label: texts.why, run: () => explain(document) },
    ];
    if (!canWrite) return reading;
    return [
      ...reading,
      { label: texts.move, run: () => setAsked({ kind: "move", target, count: 1 }) },
      { label: texts.reprocess, run: () => bulk.tell(bulk.reprocess(target)) },
      { label: texts.remove, run: () => setAsked({ kind: "remove", target, count: 1 }), isDangerous: true },
    ];
  };
  const dialogOf = (dialog: Asked): ReactNode => {
    switch (dialog.kind) {
      case "menu":
        return (
          <MenuAt
            at={dialog.at}
            label={listTexts.menu(nameOf(dialog.document))}
            entries={entriesOf(dialog.document)}
            // An entry may have opened a dialog in its place.
            onClose={() => setAsked((now) => (now === dialog ? null : now))}
          />
        );
      case "why":
        return (
          <StateDialog
            document={dialog.document}
            canWrite={canWrite}
            onReprocess={() => {
              close();
              bulk.tell(bulk.reprocess({ document_ids: [dialog.document.id] }));
            }}
            onClose={close}
          />
        );
      case "move":
        return (
          <MoveDialog
            spaceId={spaceId}
            title={texts.moveTitle(dialog.count)}
            onMove={(folderId) => bulk.move(dialog.target, folderId)}
            onClose={close}
          />
        );
      case "remove":
        return (
          <ConfirmDeletion
            title={texts.removeTitle(dialog.count)}
            action={texts.removeAction}
            count={() => deletionOf(holdfast, dialog.target)}
            onConfirm={() => bulk.remove(dialog.target)}
            onClose={close}
          />
        );
    }
  };
  return {
    open,
    openMenu: (document, at) => setAsked({ kind: "menu", document, at }),
    explain,
    move: () => ask("move"),
    reprocess() {
      const of = selected();
      if (of !== null && canWrite) bulk.tell(bulk.reprocess(of.target));
    },
    remove: () => ask("remove"),
    dialogs: asked === null ? null : dialogOf(asked),
  };
}
