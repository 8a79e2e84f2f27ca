import { Button, Group, Menu, Modal, Text, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useMessages } from "../../messages/messages.ts";
import { messages } from "./messages.ts";
import type { Chats } from "./store/chats.ts";
import { type Conversation, asMarkdown } from "./store/conversation.ts";

interface Props {
  readonly chats: Chats;
  readonly conversation: Conversation;
}

/** Renames, exports and deletes a conversation. */
export function ConversationActions({ chats, conversation }: Props): ReactNode {
  const texts = useMessages(messages);
  const [shown, setShown] = useState<"rename" | "remove" | null>(null);
  const { title } = conversation;
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" aria-label={texts.actions}>
            ⋯
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => setShown("rename")}>{texts.rename}</Menu.Item>
          <Menu.Item
            onClick={() => save(`${title}.json`, "application/json", JSON.stringify(conversation, null, 2))}
          >
            {texts.exportJson}
          </Menu.Item>
          <Menu.Item onClick={() => save(`${title}.md`, "text/markdown", asMarkdown(conversation))}>
            {texts.exportMarkdown}
          </Menu.Item>
          <Menu.Item c="var(--mantine-color-error)" onClick={() => setShown("remove")}>
            {texts.remove}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {shown === "rename" && (
        <Rename
          title={title}
          onRename={(next) => chats.rename(conversation.id, next)}
          onClose={() => setShown(null)}
        />
      )}
      {shown === "remove" && (
        <Remove title={title} onRemove={() => chats.remove(conversation.id)} onClose={() => setShown(null)} />
      )}
    </>
  );
}

interface RenameProps {
  readonly title: string;
  readonly onRename: (title: string) => void;
  readonly onClose: () => void;
}

function Rename({ title: before, onRename, onClose }: RenameProps): ReactNode {
  const texts = useMessages(messages);
  const [title, setTitle] = useState(before);
  return (
    <Modal opened onClose={onClose} title={texts.rename}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onRename(title.trim());
          onClose();
        }}
      >
        <TextInput
          label={texts.name}
          value={title}
          onChange={(event) => setTitle(event.currentTarget.value)}
          required
          maxLength={200}
          data-autofocus
        />
        <Group justify="flex-end" mt="md">
          <Button type="submit">{texts.save}</Button>
        </Group>
      </form>
    </Modal>
  );
}

interface RemoveProps {
  readonly title: string;
  readonly onRemove: () => void;
  readonly onClose: () => void;
}

function Remove({ title, onRemove, onClose }: RemoveProps): ReactNode {
  const texts = useMessages(messages);
  const navigate = useNavigate();
  return (
    <Modal opened onClose={onClose} title={texts.removeTitle(title)}>
      <Text>{texts.removeText}</Text>
      <Group justify="flex-end" mt="md">
        <Button variant="default" onClick={onClose} data-autofocus>
          {texts.cancel}
        </Button>
        <Button
          color="red"
          onClick={() => {
            onRemove();
            void navigate({ to: "/chat" });
          }}
        >
          {texts.remove}
        </Button>
      </Group>
    </Modal>
  );
}

/** Gives a text to the person as a file. */
function save(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name.replaceAll(/[/\\:*?"<>|]/g, "_");
  link.click();
  URL.revokeObjectURL(url);
}
