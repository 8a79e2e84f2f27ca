import { Button, Drawer } from "@mantine/core";
import type { Schemas } from "@holdfast/client";
import { type ReactNode, type RefObject, Suspense, lazy, memo, useMemo, useRef, useState } from "react";
import { useMessages } from "../../messages/messages.ts";
import { useStable } from "../../parts/use-stable.ts";
import type { Rights } from "./access.ts";
import { BulkBar } from "./actions/bulk-bar.tsx";
import { useDocumentActions } from "./actions/document-actions.tsx";
import { useBulk } from "./actions/use-bulk.tsx";
import { useFolderActions } from "./folders/folder-actions.tsx";
import { FolderTree } from "./folders/tree.tsx";
import { ListOrEmpty } from "./list/list-or-empty.tsx";
import { type ListAddress, TOP, questionOf } from "./list/question.ts";
import { Toolbar } from "./list/toolbar.tsx";
import { useList } from "./list/use-list.ts";
import { messages } from "./messages.ts";
import { SpaceHead } from "./space-head.tsx";
import styles from "./space.module.css";
import type { Gathered } from "./uploads/dropped.ts";
import { DropZone } from "./uploads/drop-zone.tsx";
import { UploadPanel } from "./uploads/panel.tsx";
import { useUploads } from "./uploads/use-uploads.ts";
import { useDragging } from "./use-dragging.ts";
import { useSpaceKeys } from "./use-space-keys.ts";

const SpaceSettings = lazy(async () => ({
  default: (await import("./settings/space-settings.tsx")).SpaceSettings,
}));

interface Props {
  readonly space: Schemas["Space"];
  readonly title: string;
  readonly rights: Rights;
  readonly address: ListAddress & { readonly panel?: string };
  readonly onAddress: (change: ListAddress & { readonly panel?: string | undefined }) => void;
}

export function SpaceView({ space, title, rights, address, onAddress }: Props): ReactNode {
  const texts = useMessages(messages);
  const { canRead, canWrite, canManage } = rights;
  const spaceId = space.id;
  const { folder, status, type, q, order } = address;
  const question = useMemo(
    () => questionOf(spaceId, { folder, status, type, q, order }),
    [spaceId, folder, status, type, q, order],
  );
  const list = useList(question);
  const bulk = useBulk(list.clear);
  const documents = useDocumentActions({ spaceId, list, bulk, canWrite });
  const folders = useFolderActions({
    spaceId,
    bulk,
    onRemoved: (id) => id === folder && onAddress({ folder: undefined }),
  });
  const uploads = useUploads(spaceId);
  const here = folder === undefined || folder === TOP ? null : folder;
  const [isTreeOpen, setIsTreeOpen] = useState(false);
  const refs = useRefs();
  const openSettings = (): void => onAddress({ panel: "settings" });
  useSpaceKeys({ refs, list, documents, rights, openSettings, newFolder: () => folders.create(null) });
  // A list that scrolls draws this anew all the time; what does not change is not drawn with it.
  const on = useStable({
    ...useDragging({ list, bulk, folders, upload: uploads.add }),
    menu: folders.openMenu,
    press: folders.press,
    create: () => folders.create(null),
    settings: openSettings,
    showTree: () => setIsTreeOpen(true),
    upload: (gathering: Gathered | Promise<Gathered>) => void uploads.add(gathering, here),
    choose(chosen: string | undefined) {
      setIsTreeOpen(false);
      onAddress({ folder: chosen });
    },
  });
  const tree = (
    <>
      <FolderTree
        spaceId={spaceId}
        selected={folder}
        onSelect={on.choose}
        canWrite={canWrite}
        onDrop={on.drop}
        onMenu={on.menu}
        onKey={on.press}
        treeRef={refs.tree}
      />
      {canWrite && <NewFolder onClick={on.create} />}
    </>
  );
  return (
    <div className={styles["screen"]}>
      <SpaceHead
        title={title}
        rights={rights}
        filesRef={refs.files}
        onFolders={on.showTree}
        onSettings={on.settings}
        onChosen={on.upload}
      />
      <DropZone isEnabled={canWrite} onDropped={on.upload}>
        {canRead && <div className={styles["side"]}>{tree}</div>}
        <div className={styles["main"]}>
          {canRead && <Toolbar address={address} onChange={onAddress} searchRef={refs.search} />}
          {canWrite && (
            <BulkBar
              list={list}
              onMove={documents.move}
              onReprocess={documents.reprocess}
              onRemove={documents.remove}
            />
          )}
          <ListOrEmpty
            {...{ list, rights, address, onAddress }}
            actions={{ ...documents, drag: on.drag }}
            gridRef={refs.grid}
          />
          <UploadPanel state={uploads} />
        </div>
      </DropZone>
      {documents.dialogs}
      {folders.dialogs}
      {isTreeOpen && (
        <Drawer opened onClose={() => setIsTreeOpen(false)} title={texts.folders}>
          {tree}
        </Drawer>
      )}
      <Suspense>
        {address.panel === "settings" && canManage && (
          <SpaceSettings spaceId={spaceId} onClose={() => onAddress({ panel: undefined })} />
        )}
      </Suspense>
    </div>
  );
}

const NewFolder = memo(function NewFolder({ onClick }: { readonly onClick: () => void }): ReactNode {
  const texts = useMessages(messages);
  return (
    <Button variant="subtle" size="compact-sm" mt="xs" onClick={onClick}>
      + {texts.keys.newFolder}
    </Button>
  );
});

export interface SpaceRefs {
  readonly grid: RefObject<HTMLDivElement | null>;
  readonly tree: RefObject<HTMLUListElement | null>;
  readonly search: RefObject<HTMLInputElement | null>;
  readonly files: RefObject<HTMLInputElement | null>;
}

function useRefs(): SpaceRefs {
  return {
    grid: useRef<HTMLDivElement>(null),
    tree: useRef<HTMLUListElement>(null),
    search: useRef<HTMLInputElement>(null),
    files: useRef<HTMLInputElement>(null),
  };
}
