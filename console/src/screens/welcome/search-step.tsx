import { Anchor, Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { fieldErrorsOf } from "../../api/client.ts";
import { useHoldfast } from "../../app/context.ts";
import { useFormats } from "../../messages/formats.ts";
import { useMessages } from "../../messages/messages.ts";
import { Bidi } from "../../parts/bidi.tsx";
import { ScreenError } from "../../parts/screen-error.tsx";
import { messages } from "./messages.ts";
import { Step } from "./step.tsx";

const SHOWN = 3;
const SHOWN_CHARACTERS = 300;

export function SearchStep({ spaceId }: { readonly spaceId: string }): ReactNode {
  const { search: texts, sample } = useMessages(messages);
  const formats = useFormats();
  const holdfast = useHoldfast();
  const [query, setQuery] = useState(sample.question);
  const search = useMutation({ mutationFn: () => holdfast.search({ query, spaceId, limit: SHOWN }) });
  const hits = search.data?.results;
  const problem = fieldErrorsOf(search.error)["query"];
  return (
    <Step number={2} title={texts.title} text={texts.text} isDone={(hits?.length ?? 0) > 0}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          search.mutate();
        }}
      >
        <Group align="flex-end" gap="xs">
          <TextInput
            flex="1 1 240px"
            label={texts.query}
            value={query}
            error={problem}
            onChange={(event) => setQuery(event.currentTarget.value)}
            required
          />
          <Button type="submit" loading={search.isPending}>
            {texts.button}
          </Button>
        </Group>
      </form>
      {search.error !== null && problem === undefined && <ScreenError error={search.error} />}
      {hits?.length === 0 && <Text size="sm">{texts.nothing}</Text>}
      <Stack gap="xs" component="ol" m={0} ps="lg">
        {hits?.map((hit) => (
          <li key={hit.chunk_id}>
            <Anchor
              size="sm"
              renderRoot={(props) => (
                <Link
                  to="/documents/$documentId"
                  params={{ documentId: hit.document_id }}
                  search={{ chunk: hit.chunk_id }}
                  {...props}
                />
              )}
            >
              <Bidi>{hit.document_name}</Bidi>
            </Anchor>{" "}
            <Text span size="xs" c="dimmed">
              {formats.number(hit.score)}
            </Text>
            <Text size="sm" dir="auto" style={{ whiteSpace: "pre-line" }}>
              {hit.text.slice(0, SHOWN_CHARACTERS)}
            </Text>
          </li>
        ))}
      </Stack>
      <Anchor
        size="sm"
        renderRoot={(props) => <Link to="/search" search={{ q: query, space: spaceId }} {...props} />}
      >
        {texts.all}
      </Anchor>
    </Step>
  );
}
