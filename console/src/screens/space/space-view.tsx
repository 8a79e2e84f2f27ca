import { Button, Drawer } from "@mantine/core";
import type { Schemas } from "@holdfast/client";
import { type ReactNode, type RefObject, Suspense, lazy, useMemo, useRef, useState } from "react";
import { useMessages } from "../../messages/messages.ts";
import { PageHeader } from "../../parts/page-header.tsx";
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
import styles from "./space.module.css";
import { DropZone } from "./uploads/drop-zone.tsx";
import { UploadPanel } from "./uploads/panel.tsx";
import { UploadMenu } from "./uploads/upload-menu.tsx";
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
  const { drag, drop } = useDragging({ list, bulk, folders, upload: uploads.add });
  const tree = (
    <FolderTree
      spaceId={spaceId}
      selected={folder}
      onSelect={(chosen) => {
        setIsTreeOpen(false);
        onAddress({ folder: chosen });
      }}
      canWrite={canWrite}
      onDrop={drop}
      onMenu={folders.openMenu}
      onKey={folders.press}
      treeRef={refs.tree}
    />
  );
  return (
    <div className={styles["screen"]}>
      <PageHeader title={title} text={noteOf(rights, texts)}>
        {canRead && (
          <Button variant="default" hiddenFrom="md" onClick={() => setIsTreeOpen(true)}>
            {texts.folders}
          </Button>
        )}
        {canManage && (
          <Button variant="default" onClick={openSettings}>
            {texts.settings}
          </Button>
        )}
        {canWrite && (
          <UploadMenu filesRef={refs.files} onChosen={(gathered) => void uploads.add(gathered, here)} />
        )}
      </PageHeader>
      <DropZone isEnabled={canWrite} onDropped={(gathering) => void uploads.add(gathering, here)}>
        {canRead && (
          <div className={styles["side"]}>
            {tree}
            {canWrite && <NewFolder onClick={() => folders.create(null)} />}
          </div>
        )}
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
            actions={{ ...documents, drag }}
            gridRef={refs.grid}
          />
          <UploadPanel state={uploads} />
        </div>
      </DropZone>
      {documents.dialogs}
      {folders.dialogs}
      <Drawer opened={isTreeOpen} onClose={() => setIsTreeOpen(false)} title={texts.folders}>
        {isTreeOpen && tree}
        {canWrite && <NewFolder onClick={() => folders.create(null)} />}
      </Drawer>
      <Suspense>
        {address.panel === "settings" && canManage && (
          <SpaceSettings spaceId={spaceId} onClose={() => onAddress({ panel: undefined })} />
        )}
      </Suspense>
    </div>
  );
}

function NewFolder({ onClick }: { readonly onClick: () => void }): ReactNode {
  const texts = useMessages(messages);
  return (
    <Button variant="subtle" size="compact-sm" mt="xs" onClick={onClick}>
      + {texts.keys.newFolder}
    </Button>
  );
}

function noteOf(
  { canRead, canWrite, canManage }: Rights,
  texts: ReturnType<typeof useMessages<typeof messages.en>>,
): string | undefined {
  if (!canRead && canManage) return texts.onlyManaging;
  return canWrite ? undefined : texts.onlyReading;
}

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
