import { Button, Loader, Paper, Stack, Text, Textarea, Title } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { Schemas } from "@holdfast/client";
import { useHoldfast } from "../../app/context.ts";
import { useMessages } from "../../messages/messages.ts";
import { ScreenError } from "../../parts/screen-error.tsx";
import { Answer } from "../chat/answer.tsx";
import { Sources } from "../chat/sources.tsx";
import "../chat/chat.css";
import { messages } from "./messages.ts";

/** Asks the agent one question, beside its configuration. */
export function TryOut({ agentId }: { readonly agentId: string }): ReactNode {
  const texts = useMessages(messages);
  const holdfast = useHoldfast();
  const [question, setQuestion] = useState("");
  const [text, setText] = useState("");
  const [citations, setCitations] = useState<readonly Schemas["Citation"][]>([]);
  const asking = useMutation({
    async mutationFn() {
      setText("");
      setCitations([]);
      for await (const piece of holdfast.askInPieces({ agent: agentId, question })) {
        setText((before) => before + piece.text);
        if (piece.citations !== undefined) setCitations(piece.citations);
      }
    },
  });
  return (
    <Paper withBorder p="md" flex={1} miw={0} w="100%" component="section" aria-label={texts.tryTitle}>
      <Stack gap="sm">
        <Title order={2} size="h5">
          {texts.tryTitle}
        </Title>
        <Text size="sm" c="dimmed">
          {texts.tryText}
        </Text>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            asking.mutate();
          }}
        >
          <Textarea
            label={texts.question}
            value={question}
            onChange={(event) => setQuestion(event.currentTarget.value)}
            autosize
            minRows={2}
            dir="auto"
          />
          <Button type="submit" mt="xs" loading={asking.isPending} disabled={question.trim() === ""}>
            {texts.ask}
          </Button>
        </form>
        {asking.isPending && text === "" && <Loader size="xs" type="dots" aria-label={texts.answering} />}
        <Answer text={text} citations={citations} />
        <Sources citations={citations} />
        {asking.error !== null && <ScreenError error={asking.error} />}
      </Stack>
    </Paper>
  );
}
