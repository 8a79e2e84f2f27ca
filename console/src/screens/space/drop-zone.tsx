import { Overlay, Text } from "@mantine/core";
import { type DragEvent, type ReactNode, useState } from "react";
import { useMessages } from "../../messages/messages.ts";
import { droppedFiles } from "../../uploads/dropped.ts";
import type { DroppedFile } from "../../uploads/uploads.ts";
import { messages } from "./messages.ts";

interface Props {
  /** Whether the person may upload here. */
  readonly isOpen: boolean;
  readonly onFiles: (files: Promise<readonly DroppedFile[]>) => void;
  readonly children: ReactNode;
}

const hasFiles = ({ dataTransfer }: DragEvent): boolean => dataTransfer.types.includes("Files");

/** Takes files and folders that are dropped anywhere on the screen. Buttons do the same by keyboard. */
export function DropZone({ isOpen, onFiles, children }: Props): ReactNode {
  const texts = useMessages(messages);
  // Entering a child comes before leaving its parent.
  const [depth, setDepth] = useState(0);
  if (!isOpen) return children;
  return (
    <div
      onDragEnter={(event) => hasFiles(event) && setDepth((now) => now + 1)}
      onDragLeave={(event) => hasFiles(event) && setDepth((now) => Math.max(0, now - 1))}
      onDragOver={(event) => {
        if (hasFiles(event)) event.preventDefault();
      }}
      onDrop={(event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        setDepth(0);
        onFiles(droppedFiles(event.dataTransfer));
      }}
      style={{ position: "relative" }}
    >
      {children}
      {depth > 0 && (
        <Overlay color="var(--mantine-color-body)" backgroundOpacity={0.85} style={{ pointerEvents: "none" }}>
          <Text size="xl" ta="center" mt="20vh">
            {texts.drop}
          </Text>
        </Overlay>
      )}
    </div>
  );
}
