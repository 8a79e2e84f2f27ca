import { Button, Group, Stack, Text, TextInput, Title } from "@mantine/core";
import type { Schemas } from "@holdfast/client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { answerOf, fieldErrorsOf } from "../../api/client.ts";
import { useHoldfast, useMe } from "../../app/context.ts";
import { useFormats } from "../../messages/formats.ts";
import { useMessages } from "../../messages/messages.ts";
import { Bidi } from "../../parts/bidi.tsx";
import { changedSince } from "../../parts/changed-since.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { QueryView } from "../../parts/query-view.tsx";
import { ScreenError } from "../../parts/screen-error.tsx";
import { messages } from "./messages.ts";
import { organizationQuery } from "./organization-query.ts";

type Organization = Schemas["Organization"];

const DAY_SECONDS = 86_400;

export function Settings(): ReactNode {
  const { organization } = useMe();
  const query = useQuery(organizationQuery(useHoldfast(), organization.id));
  return <QueryView query={query}>{(found) => <Form key={found.id} organization={found} />}</QueryView>;
}

const daysOf = (seconds: number | null): string => (seconds === null ? "" : String(seconds / DAY_SECONDS));
const secondsOf = (days: string): number | null =>
  days.trim() === "" ? null : Math.round(Number(days) * DAY_SECONDS);
const isWrong = (days: string): boolean => {
  const seconds = secondsOf(days);
  return seconds !== null && !(seconds > 0);
};

function Form({ organization }: { readonly organization: Organization }): ReactNode {
  const texts = useMessages(messages).settings;
  const { api } = useHoldfast();
  const queries = useQueryClient();
  const now = {
    usual: daysOf(organization.default_key_lifetime_seconds),
    longest: daysOf(organization.max_key_lifetime_seconds),
  };
  // What was not typed here follows another admin's change, and is not sent.
  const [typed, setTyped] = useState<Partial<typeof now>>({});
  const { usual, longest } = { ...now, ...typed };
  const saved = useMutation({
    mutationFn: (sent: Partial<typeof now>) =>
      answerOf(
        api.PATCH("/v1/organizations/{organization_id}", {
          params: { path: { organization_id: organization.id } },
          body: {
            ...(sent.usual === undefined ? {} : { default_key_lifetime_seconds: secondsOf(sent.usual) }),
            ...(sent.longest === undefined ? {} : { max_key_lifetime_seconds: secondsOf(sent.longest) }),
          },
        }),
      ),
    async onSuccess(_, sent) {
      await queries.invalidateQueries({ queryKey: ["organization"] });
      setTyped((since) => changedSince<typeof now>(since, sent));
    },
  });
  const problems = fieldErrorsOf(saved.error);
  const usualProblem = problems["default_key_lifetime_seconds"];
  const longestProblem = problems["max_key_lifetime_seconds"];
  const isElsewhere = saved.error !== null && usualProblem === undefined && longestProblem === undefined;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        saved.mutate(typed);
      }}
    >
      <Stack maw={560}>
        <Facts organization={organization} />
        <Title order={2} size="h4">
          {texts.lifetimes}
        </Title>
        <TextInput
          type="number"
          step="any"
          label={texts.usual}
          description={texts.usualHint}
          value={usual}
          onChange={(event) => setTyped({ ...typed, usual: event.currentTarget.value })}
          error={isWrong(usual) ? texts.noNumber : usualProblem}
        />
        <TextInput
          type="number"
          step="any"
          label={texts.longest}
          description={texts.longestHint}
          value={longest}
          onChange={(event) => setTyped({ ...typed, longest: event.currentTarget.value })}
          error={isWrong(longest) ? texts.noNumber : longestProblem}
        />
        <Text size="sm" c="dimmed">
          {texts.keep}
        </Text>
        {isElsewhere && <ScreenError error={saved.error} />}
        <Group>
          <Button type="submit" loading={saved.isPending} disabled={isWrong(usual) || isWrong(longest)}>
            {texts.save}
          </Button>
          <Text size="sm" role="status">
            {saved.isSuccess ? texts.saved : ""}
          </Text>
        </Group>
      </Stack>
    </form>
  );
}

function Facts({ organization: { id, name, created_at: since } }: { readonly organization: Organization }) {
  const texts = useMessages(messages).settings;
  const formats = useFormats();
  return (
    <Stack gap={4}>
      <Text>
        {texts.name}: <Bidi>{name}</Bidi>
      </Text>
      <Text>
        {texts.since}: {formats.date(since)}
      </Text>
      <Group gap="xs">
        <Text>
          {texts.id}: <code>{id}</code>
        </Text>
        <CopyButton value={id} />
      </Group>
    </Stack>
  );
}
