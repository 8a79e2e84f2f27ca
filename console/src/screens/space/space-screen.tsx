import { Button, Flex, Stack } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { type ReactNode, Suspense, lazy, useRef, useState } from "react";
import { answerOf } from "../../api/client.ts";
import { keyOf } from "../../api/keys.ts";
import { useAccess } from "../../app/access.ts";
import { useConsole } from "../../app/context.ts";
import { messages as shell } from "../../app/messages.ts";
import { useMessages } from "../../messages/messages.ts";
import { PageHeader } from "../../parts/page-header.tsx";
import { QueryView } from "../../parts/query-view.tsx";
import { useShortcuts } from "../../parts/shortcuts.tsx";
import { MAX_DROPPED, chosenFiles } from "../../uploads/dropped.ts";
import type { DroppedFile } from "../../uploads/uploads.ts";
import { type ListAddress, ROOT_FOLDER } from "./documents.ts";
import { DocumentList } from "./document-list.tsx";
import { DropZone } from "./drop-zone.tsx";
import { Filters } from "./filters.tsx";
import { FolderTree } from "./folders/folder-tree.tsx";
import { messages } from "./messages.ts";
import { UploadPanel } from "./upload-panel.tsx";

const SpaceSettings = lazy(async () => ({ default: (await import("./space-settings.tsx")).SpaceSettings }));

/** The documents of a space: what is in it, how far each is, and what can be done with it. */
export function SpaceScreen(): ReactNode {
  const { spaceId } = useParams({ from: "/spaces/$spaceId" });
  // Each space begins with nothing selected and at the top.
  return <Space key={spaceId} spaceId={spaceId} />;
}

function Space({ spaceId }: { readonly spaceId: string }): ReactNode {
  const { nav } = useMessages(shell);
  const { holdfast } = useConsole();
  const space = useQuery({
    queryKey: keyOf("spaces", spaceId),
    queryFn: () =>
      answerOf(holdfast.api.GET("/v1/spaces/{space_id}", { params: { path: { space_id: spaceId } } })),
  });
  localStorage.setItem("holdfast.space", spaceId);
  return (
    <QueryView query={space}>
      {({ name, is_private: isPrivate }) => (
        <Documents spaceId={spaceId} title={isPrivate ? nav.privateSpace : name} isPrivate={isPrivate} />
      )}
    </QueryView>
  );
}

interface DocumentsProps {
  readonly spaceId: string;
  readonly title: string;
  readonly isPrivate: boolean;
}

function Documents({ spaceId, title, isPrivate }: DocumentsProps): ReactNode {
  const texts = useMessages(messages);
  const address = useSearch({ from: "/spaces/$spaceId" });
  const navigate = useNavigate({ from: "/spaces/$spaceId" });
  const can = useAccess(spaceId);
  const mayWrite = can("documents:create");
  const [isSettings, setIsSettings] = useState(false);
  const add = useUpload(spaceId, address.folder);
  const change = (next: Partial<Record<keyof ListAddress, string | undefined>>): void => {
    void navigate({
      search: (before) =>
        Object.fromEntries(Object.entries({ ...before, ...next }).filter(([, value]) => value !== undefined)),
      replace: true,
    });
  };
  return (
    <DropZone isOpen={mayWrite} onFiles={add}>
      <Stack h="calc(100dvh - 84px)" gap="sm">
        <PageHeader title={title}>
          {mayWrite && <UploadButtons onFiles={add} />}
          {can("spaces:manage") && !isPrivate && (
            <Button variant="default" onClick={() => setIsSettings(true)}>
              {texts.settings}
            </Button>
          )}
        </PageHeader>
        <Filters address={address} onChange={change} />
        <Flex gap="md" flex={1} mih={0} direction={{ base: "column", md: "row" }}>
          <FolderTree
            spaceId={spaceId}
            chosen={address.folder}
            mayWrite={can("folders:write")}
            onChoose={(folder) => change({ folder })}
          />
          <DocumentList spaceId={spaceId} address={address} can={can} onClear={() => change(CLEARED)} />
        </Flex>
        <UploadPanel spaceId={spaceId} />
      </Stack>
      <Suspense>
        {isSettings && <SpaceSettings spaceId={spaceId} name={title} onClose={() => setIsSettings(false)} />}
      </Suspense>
    </DropZone>
  );
}

const CLEARED = { q: undefined, status: undefined, type: undefined };

/** Adds what was dropped or chosen to the folder that is shown. */
function useUpload(spaceId: string, folder: string | undefined) {
  const texts = useMessages(messages);
  const { uploads } = useConsole();
  const folderId = folder === undefined || folder === ROOT_FOLDER ? null : folder;
  return (files: Promise<readonly DroppedFile[]>): void => {
    files.then(
      (all) => uploads.add(spaceId, folderId, all),
      (error: unknown) =>
        notifications.show({
          color: "red",
          message: error instanceof RangeError ? texts.tooMany(MAX_DROPPED) : texts.unreadable,
        }),
    );
  };
}

function UploadButtons({
  onFiles,
}: {
  readonly onFiles: (files: Promise<readonly DroppedFile[]>) => void;
}): ReactNode {
  const texts = useMessages(messages);
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  useShortcuts([{ keys: "u", label: texts.keys.upload, run: () => files.current?.click() }]);
  const take = (input: HTMLInputElement): void => {
    if (input.files !== null && input.files.length > 0) onFiles(Promise.resolve(chosenFiles(input.files)));
    input.value = "";
  };
  return (
    <>
      <input
        ref={files}
        type="file"
        multiple
        hidden
        aria-label={texts.dropped}
        onChange={(event) => take(event.currentTarget)}
      />
      <input
        ref={folder}
        type="file"
        hidden
        aria-label={texts.uploadFolder}
        onChange={(event) => take(event.currentTarget)}
        {...{ webkitdirectory: "" }}
      />
      <Button onClick={() => files.current?.click()}>{texts.upload}</Button>
      <Button variant="default" onClick={() => folder.current?.click()} visibleFrom="sm">
        {texts.uploadFolder}
      </Button>
    </>
  );
}
