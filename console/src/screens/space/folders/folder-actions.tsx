/** What can be done with a folder, and the dialogs that ask before it is done. */
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { answerOf } from "../../../api/client.ts";
import { useHoldfast } from "../../../app/context.ts";
import { useMessages } from "../../../messages/messages.ts";
import { ConfirmDeletion } from "../../../parts/confirm-deletion.tsx";
import { NameDialog } from "../../../parts/name-dialog.tsx";
import { type MenuEntry, MenuAt } from "../actions/menu-at.tsx";
import { MoveDialog } from "../actions/move-dialog.tsx";
import type { Bulk } from "../actions/use-bulk.tsx";
import { messages } from "./messages.ts";
import type { Folder } from "./tree-data.ts";

type Asked =
  | { readonly kind: "create"; readonly inside: Folder | null }
  | { readonly kind: "rename" | "move" | "remove"; readonly folder: Folder }
  | { readonly kind: "menu"; readonly folder: Folder; readonly at: DOMRect };

interface Options {
  readonly spaceId: string;
  readonly bulk: Bulk;
  /** The folder is gone: what shows it has to show something else. */
  readonly onRemoved: (folderId: string) => void;
}

export interface FolderActions {
  readonly create: (inside: Folder | null) => void;
  readonly openMenu: (folder: Folder, at: DOMRect) => void;
  readonly press: (key: "F2" | "Delete", folder: Folder) => void;
  readonly move: (folderId: string, parentId: string | null) => Promise<void>;
  readonly dialogs: ReactNode;
}

export function useFolderActions({ spaceId, bulk, onRemoved }: Options): FolderActions {
  const texts = useMessages(messages);
  const { api } = useHoldfast();
  const queries = useQueryClient();
  const [asked, setAsked] = useState<Asked | null>(null);
  const close = (): void => setAsked(null);
  const done = async (): Promise<void> => {
    await queries.invalidateQueries({ queryKey: ["folders"] });
    void queries.invalidateQueries({ queryKey: ["documents"] });
  };
  const change = async (
    id: string,
    body: { name?: string; parent_folder_id?: string | null },
  ): Promise<void> => {
    await answerOf(api.PATCH("/v1/folders/{folder_id}", { params: { path: { folder_id: id } }, body }));
    await done();
  };
  const create = async (name: string, inside: Folder | null): Promise<void> => {
    const body = { name, space_id: spaceId, parent_folder_id: inside?.id ?? null };
    await answerOf(api.POST("/v1/folders", { body }));
    await done();
  };
  const remove = async ({ id }: Folder): Promise<void> => {
    await answerOf(api.DELETE("/v1/folders/{folder_id}", { params: { path: { folder_id: id } } }));
    onRemoved(id);
    await done();
  };
  const entriesOf = (folder: Folder): MenuEntry[] => [
    { label: texts.newInside, run: () => setAsked({ kind: "create", inside: folder }) },
    { label: texts.rename, run: () => setAsked({ kind: "rename", folder }) },
    { label: texts.move, run: () => setAsked({ kind: "move", folder }) },
    { label: texts.reprocess, run: () => bulk.tell(bulk.reprocess({ folder_ids: [folder.id] })) },
    { label: texts.remove, run: () => setAsked({ kind: "remove", folder }), isDangerous: true },
  ];
  const dialogOf = (dialog: Asked): ReactNode => {
    if (dialog.kind === "create") {
      const title = dialog.inside === null ? texts.create : texts.createIn(dialog.inside.name);
      return <NameDialog title={title} onSave={(name) => create(name, dialog.inside)} onClose={close} />;
    }
    const { folder } = dialog;
    const { id, name } = folder;
    switch (dialog.kind) {
      case "menu":
        return (
          <MenuAt
            at={dialog.at}
            label={texts.menu(name)}
            entries={entriesOf(folder)}
            onClose={() => setAsked((now) => (now === dialog ? null : now))}
          />
        );
      case "rename":
        return (
          <NameDialog
            title={texts.renameTitle}
            name={name}
            onSave={(changed) => change(id, { name: changed })}
            onClose={close}
          />
        );
      case "move":
        return (
          <MoveDialog
            spaceId={spaceId}
            title={texts.moveTitle(name)}
            onMove={(parentId) => change(id, { parent_folder_id: parentId })}
            onClose={close}
          />
        );
      case "remove":
        return (
          <ConfirmDeletion
            title={texts.removeTitle(name)}
            action={texts.removeAction}
            count={() =>
              answerOf(api.GET("/v1/folders/{folder_id}/deletion", { params: { path: { folder_id: id } } }))
            }
            onConfirm={() => remove(folder)}
            onClose={close}
          />
        );
    }
  };
  return {
    create: (inside) => setAsked({ kind: "create", inside }),
    openMenu: (folder, at) => setAsked({ kind: "menu", folder, at }),
    press: (key, folder) => setAsked({ kind: key === "F2" ? "rename" : "remove", folder }),
    move: (folderId, parentId) => change(folderId, { parent_folder_id: parentId }),
    dialogs: asked === null ? null : dialogOf(asked),
  };
}
