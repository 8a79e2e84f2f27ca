import { Button } from "@mantine/core";
import { type ReactNode, type RefObject, memo } from "react";
import { useMessages } from "../../messages/messages.ts";
import { PageHeader } from "../../parts/page-header.tsx";
import type { Rights } from "./access.ts";
import { messages } from "./messages.ts";
import type { Gathered } from "./uploads/dropped.ts";
import { UploadMenu } from "./uploads/upload-menu.tsx";

interface Props {
  readonly title: string;
  readonly rights: Rights;
  readonly filesRef: RefObject<HTMLInputElement | null>;
  readonly onFolders: () => void;
  readonly onSettings: () => void;
  readonly onChosen: (gathered: Gathered) => void;
}

/** The name of a space, and what can be done with it. */
export const SpaceHead = memo(function SpaceHead(props: Props): ReactNode {
  const { title, rights, filesRef, onFolders, onSettings, onChosen } = props;
  const texts = useMessages(messages);
  return (
    <PageHeader title={title} text={noteOf(rights, texts)}>
      {rights.canRead && (
        <Button variant="default" hiddenFrom="md" onClick={onFolders}>
          {texts.folders}
        </Button>
      )}
      {rights.canManage && (
        <Button variant="default" onClick={onSettings}>
          {texts.settings}
        </Button>
      )}
      {rights.canWrite && <UploadMenu filesRef={filesRef} onChosen={onChosen} />}
    </PageHeader>
  );
});

function noteOf(
  { canRead, canWrite, canManage }: Rights,
  texts: ReturnType<typeof useMessages<typeof messages.en>>,
): string | undefined {
  if (!canRead && canManage) return texts.onlyManaging;
  return canWrite ? undefined : texts.onlyReading;
}
