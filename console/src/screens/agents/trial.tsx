import { Button, Group, Loader, Paper, Stack, Text, Textarea, Title } from "@mantine/core";
import { type ReactNode, type Ref, useState } from "react";
import { useMessages } from "../../messages/messages.ts";
import { ScreenError } from "../../parts/screen-error.tsx";
import { Answer } from "../chat/answer.tsx";
import "../chat/chat.css";
import { Sources } from "../chat/sources.tsx";
import { messages } from "./messages.ts";
import { useAnswer } from "./use-answer.ts";

interface Props {
  readonly agentId: string;
  readonly isUnsaved: boolean;
  readonly field: Ref<HTMLTextAreaElement>;
}

/** One question to the agent beside its settings; a conversation is for the chat. */
export function Trial({ agentId, isUnsaved, field }: Props): ReactNode {
  const texts = useMessages(messages).trial;
  const [question, setQuestion] = useState("");
  const { answer, ask, stop } = useAnswer(agentId);
  const send = (): void => {
    if (question.trim() !== "" && !answer.isRunning) ask(question.trim());
  };
  return (
    <Paper withBorder p="md" component="section" aria-label={texts.title}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <Stack gap="sm">
          <Title order={2} size="h4">
            {texts.title}
          </Title>
          <Text size="sm" c="dimmed" role={isUnsaved ? "status" : undefined}>
            {isUnsaved ? texts.unsaved : texts.text}
          </Text>
          <Textarea
            ref={field}
            label={texts.question}
            dir="auto"
            autosize
            minRows={2}
            maxRows={8}
            value={question}
            onChange={(event) => setQuestion(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
              event.preventDefault();
              send();
            }}
          />
          <Group>
            {answer.isRunning ? (
              <Button type="button" variant="default" onClick={stop}>
                {texts.stop}
              </Button>
            ) : (
              <Button type="submit" disabled={question.trim() === ""}>
                {texts.ask}
              </Button>
            )}
          </Group>
        </Stack>
      </form>
      <section aria-label={texts.answer}>
        {answer.tools.length > 0 && (
          <Group gap="xs" mt="sm">
            {answer.tools.map(({ id, name, status }) => (
              <Text key={id} size="xs" className="tool" data-status={status}>
                {name} · {texts.tools[status]}
              </Text>
            ))}
          </Group>
        )}
        <Answer text={answer.text} citations={answer.citations} />
        {answer.isRunning && (
          <Group role="status" aria-label={texts.working}>
            <Loader size="xs" type="dots" />
          </Group>
        )}
        <Sources citations={answer.citations} />
        {answer.error !== null && <ScreenError error={answer.error} />}
      </section>
    </Paper>
  );
}
