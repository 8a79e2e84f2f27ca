import { Alert, Anchor, Button, Code, Group, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { answerOf, fieldErrorsOf } from "../../api/client.ts";
import { useConsole } from "../../app/context.ts";
import { useMessages } from "../../messages/messages.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { ScreenError } from "../../parts/screen-error.tsx";
import { messages } from "./messages.ts";
import { Step } from "./step.tsx";

/** Makes a key for this space, and shows a command that works with it. */
export function KeyStep({ spaceId }: { readonly spaceId: string }): ReactNode {
  const { key: texts, sample } = useMessages(messages);
  const { holdfast, address } = useConsole();
  const queries = useQueryClient();
  const [name, setName] = useState(texts.suggested);
  const making = useMutation({
    mutationFn: () => answerOf(holdfast.api.POST("/v1/me/api-keys", { body: { name, spaces: [spaceId] } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["keys"] }),
  });
  const problem = fieldErrorsOf(making.error)["name"];
  const made = making.data;
  const body = JSON.stringify({ query: sample.question, space_id: spaceId });
  const curl = `curl -sS ${address}/v1/data/hybrid-search -H "Authorization: Bearer $HOLDFAST_TOKEN" -H 'Content-Type: application/json' -d '${body}'`;
  return (
    <Step number={4} title={texts.title} text={texts.text} isDone={made !== undefined}>
      {made === undefined ? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            making.mutate();
          }}
        >
          <Group align="flex-end" gap="xs">
            <TextInput
              flex="1 1 240px"
              label={texts.name}
              value={name}
              error={problem}
              onChange={(event) => setName(event.currentTarget.value)}
              required
            />
            <Button type="submit" loading={making.isPending}>
              {texts.button}
            </Button>
          </Group>
        </form>
      ) : (
        <Alert color="yellow" variant="light" title={texts.once}>
          <Stack gap="xs" align="flex-start">
            <Code style={{ overflowWrap: "anywhere" }}>{made.key}</Code>
            <CopyButton value={made.key} label={texts.copy} />
            <Text size="sm">{texts.try}</Text>
            <Code block maw="100%" style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
              {curl}
            </Code>
            <CopyButton value={curl} label={texts.copyCurl} />
          </Stack>
        </Alert>
      )}
      {making.error !== null && problem === undefined && <ScreenError error={making.error} />}
      <Anchor size="sm" renderRoot={(props) => <Link to="/keys" {...props} />}>
        {texts.all}
      </Anchor>
    </Step>
  );
}
