import { Alert, Box, Button, Group, Loader, Stack, Text, Textarea } from "@mantine/core";
import { type ReactNode, memo, useEffect, useRef, useState } from "react";
import { useFormats } from "../../messages/formats.ts";
import { useMessages } from "../../messages/messages.ts";
import { Answer } from "./answer.tsx";
import "./chat.css";
import { messages } from "./messages.ts";
import { Sources } from "./sources.tsx";
import type { Chats } from "./store/chats.ts";
import type { Conversation, Turn } from "./store/conversation.ts";

interface Props {
  readonly chats: Chats;
  readonly conversation: Conversation;
}

/** Whoever is nearer to the end than this wants to see what comes. */
const FOLLOW_PX = 80;

export function Turns({ chats, conversation }: Props): ReactNode {
  const scroller = useRef<HTMLDivElement>(null);
  const isFollowing = useRef(true);
  const last = conversation.turns.at(-1);
  useEffect(() => {
    const element = scroller.current;
    if (element !== null && isFollowing.current) element.scrollTop = element.scrollHeight;
  }, [last?.text, last?.id, last?.citations]);
  return (
    <Box
      ref={scroller}
      flex={1}
      mih={0}
      tabIndex={0}
      role="log"
      aria-label={conversation.title}
      aria-live="off"
      style={{ overflowY: "auto" }}
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        isFollowing.current = scrollHeight - scrollTop - clientHeight < FOLLOW_PX;
      }}
    >
      <Stack gap="lg" maw={860}>
        {conversation.turns.map((turn) => (
          <ShownTurn
            key={turn.id}
            turn={turn}
            onAskAgain={(question) => chats.askAgain(conversation.id, turn.id, question)}
          />
        ))}
      </Stack>
    </Box>
  );
}

interface TurnProps {
  readonly turn: Turn;
  readonly onAskAgain: (question: string) => void;
}

/** Turns that are over are not drawn again while another one streams in. */
const ShownTurn = memo(
  function ShownTurn({ turn, onAskAgain }: TurnProps): ReactNode {
    const texts = useMessages(messages);
    const formats = useFormats();
    return (
      <article>
        <Question turn={turn} onAskAgain={onAskAgain} />
        <Tools tools={turn.tools} />
        <Answer text={turn.text} citations={turn.citations} />
        {turn.state === "streaming" && (
          <Group gap="xs" role="status" aria-label={texts.writing}>
            <Loader size="xs" type="dots" />
          </Group>
        )}
        {turn.state === "stopped" && (
          <Text size="sm" c="dimmed">
            {texts.stopped}
          </Text>
        )}
        {turn.state === "failed" && (
          <Alert color="red" variant="light" role="alert" my="xs">
            <Group justify="space-between">
              <Text size="sm">{turn.error}</Text>
              <Button size="compact-sm" variant="default" onClick={() => onAskAgain(turn.question)}>
                {texts.again}
              </Button>
            </Group>
          </Alert>
        )}
        {turn.removedCitations > 0 && (
          <Text size="xs" c="dimmed">
            {texts.removed(turn.removedCitations)}
          </Text>
        )}
        <Sources citations={turn.citations} />
        {turn.tokens !== null && (
          <Text size="xs" c="dimmed">
            {texts.tokens(formats.number(turn.tokens))}
          </Text>
        )}
      </article>
    );
  },
  (before, after) => before.turn === after.turn,
);

function Question({ turn, onAskAgain }: TurnProps): ReactNode {
  const texts = useMessages(messages);
  const [edited, setEdited] = useState<string | null>(null);
  if (edited !== null)
    return (
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setEdited(null);
          onAskAgain(edited.trim());
        }}
      >
        <Textarea
          label={texts.edit}
          value={edited}
          onChange={(event) => setEdited(event.currentTarget.value)}
          autosize
          dir="auto"
        />
        <Group mt="xs" gap="xs">
          <Button type="submit" size="compact-sm" disabled={edited.trim() === ""}>
            {texts.send}
          </Button>
          <Button size="compact-sm" variant="default" onClick={() => setEdited(null)}>
            {texts.cancel}
          </Button>
        </Group>
      </form>
    );
  return (
    <Group className="question" justify="space-between" align="flex-start" wrap="nowrap">
      <Text fw={600} dir="auto" style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
        {turn.question}
      </Text>
      <Button size="compact-xs" variant="subtle" onClick={() => setEdited(turn.question)}>
        {texts.edit}
      </Button>
    </Group>
  );
}

function Tools({ tools }: Pick<Turn, "tools">): ReactNode {
  const texts = useMessages(messages);
  if (tools.length === 0) return null;
  return (
    <Group gap="xs" my="xs" role="status" aria-label={texts.toolsLabel}>
      {tools.map(({ id, name, status }) => (
        <Text key={id} size="xs" className="tool" data-status={status}>
          {name} · {texts.tools[status]}
        </Text>
      ))}
    </Group>
  );
}
