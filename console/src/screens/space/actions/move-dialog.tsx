import { Button, Group, Modal, ScrollArea, Stack } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { useMessages } from "../../../messages/messages.ts";
import { ScreenError } from "../../../parts/screen-error.tsx";
import { messages as treeMessages } from "../folders/messages.ts";
import { FolderTree } from "../folders/tree.tsx";

interface Props {
  readonly spaceId: string;
  readonly title: string;
  readonly onMove: (folderId: string | null) => Promise<unknown>;
  readonly onClose: () => void;
}

/** Chooses the folder that documents or a folder go to. */
export function MoveDialog({ spaceId, title, onMove, onClose }: Props): ReactNode {
  const texts = useMessages(treeMessages);
  const [chosen, setChosen] = useState<string | undefined>();
  const [failure, setFailure] = useState<unknown>();
  const [isRunning, setIsRunning] = useState(false);
  const move = (): void => {
    setIsRunning(true);
    onMove(chosen ?? null)
      .then(onClose, setFailure)
      .finally(() => setIsRunning(false));
  };
  return (
    <Modal opened onClose={onClose} title={title}>
      <Stack>
        <ScrollArea.Autosize mah="50vh" type="auto">
          <FolderTree
            spaceId={spaceId}
            selected={chosen}
            onSelect={setChosen}
            canWrite={false}
            rootName={texts.topLevel}
          />
        </ScrollArea.Autosize>
        {failure !== undefined && <ScreenError error={failure} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {texts.cancel}
          </Button>
          <Button onClick={move} loading={isRunning}>
            {texts.moveHere}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
