import { Text } from "@mantine/core";
import { type DragEvent, type ReactNode, useRef, useState } from "react";
import { useMessages } from "../../../messages/messages.ts";
import { isFileDrag } from "../list/drag.ts";
import { type Gathered, gatherDropped } from "./dropped.ts";
import { messages } from "./messages.ts";
import styles from "./uploads.module.css";

interface Props {
  readonly isEnabled: boolean;
  readonly onDropped: (gathering: Promise<Gathered>) => void;
  readonly children: ReactNode;
}

/** Takes files and folders that are dropped anywhere on it. */
export function DropZone({ isEnabled, onDropped, children }: Props): ReactNode {
  const texts = useMessages(messages).drop;
  const [isOver, setIsOver] = useState(false);
  // The pointer enters and leaves each element within.
  const depth = useRef(0);
  const leave = (): void => {
    depth.current -= 1;
    if (depth.current <= 0) setIsOver(false);
  };
  const drop = (event: DragEvent): void => {
    depth.current = 0;
    setIsOver(false);
    if (!isEnabled || !isFileDrag(event)) return;
    event.preventDefault();
    onDropped(gatherDropped(event.dataTransfer.items));
  };
  return (
    <div
      className={styles["zone"]}
      onDragEnter={(event) => {
        if (!isEnabled || !isFileDrag(event)) return;
        depth.current += 1;
        setIsOver(true);
      }}
      onDragOver={(event) => {
        if (isEnabled && isFileDrag(event)) event.preventDefault();
      }}
      onDragLeave={leave}
      onDropCapture={() => {
        depth.current = 0;
        setIsOver(false);
      }}
      onDrop={drop}
    >
      {children}
      {isOver && (
        <div className={styles["over"]}>
          <Text fw={600}>{texts.here}</Text>
        </div>
      )}
    </div>
  );
}
