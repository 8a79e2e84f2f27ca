import { Button, Menu } from "@mantine/core";
import { type ReactNode, type RefObject, useRef, memo } from "react";
import { useMessages } from "../../../messages/messages.ts";
import { messages } from "../messages.ts";
import { type Gathered, gatherChosen } from "./dropped.ts";

interface Props {
  readonly onChosen: (gathered: Gathered) => void;
  /** The field for files, which a shortcut opens. */
  readonly filesRef: RefObject<HTMLInputElement | null>;
}

/** Chooses files or a whole folder to upload. */
export const UploadMenu = memo(function UploadMenu({ onChosen, filesRef }: Props): ReactNode {
  const texts = useMessages(messages);
  const folder = useRef<HTMLInputElement>(null);
  const take = (field: HTMLInputElement): void => {
    if (field.files !== null) onChosen(gatherChosen(field.files));
    // So that the same file can be chosen again.
    field.value = "";
  };
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button>{texts.upload}</Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => filesRef.current?.click()}>{texts.uploadFiles}</Menu.Item>
          <Menu.Item onClick={() => folder.current?.click()}>{texts.uploadFolder}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <input
        ref={filesRef}
        type="file"
        multiple
        hidden
        aria-label={texts.uploadFiles}
        onChange={(event) => take(event.currentTarget)}
      />
      <input
        ref={folder}
        type="file"
        multiple
        hidden
        aria-label={texts.uploadFolder}
        onChange={(event) => take(event.currentTarget)}
        {...{ webkitdirectory: "" }}
      />
    </>
  );
});
