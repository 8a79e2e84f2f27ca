import { Anchor, Button, Group, Stack, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useHoldfast } from "../../../app/context.ts";
import { useMessages } from "../../../messages/messages.ts";
import { Bidi } from "../../../parts/bidi.tsx";
import { Empty } from "../../../parts/empty.tsx";
import { PageControl } from "../../../parts/lists/page-control.tsx";
import { SecretOnce } from "../../../parts/lists/secret-once.tsx";
import { StateBadge } from "../../../parts/lists/state-badge.tsx";
import { WideTable } from "../../../parts/lists/wide-table.tsx";
import { QueryView } from "../../../parts/query-view.tsx";
import { useShortcuts } from "../../../parts/shortcuts.tsx";
import { EventsOf, STATE_COLORS } from "./facts.tsx";
import { messages } from "./messages.ts";
import { WebhookForm } from "./webhook-form.tsx";
import { type Webhook, webhooksQuery } from "./webhook-queries.ts";
import { WebhookView } from "./webhook-view.tsx";

/** The webhooks that the person manages, or the one that the address names. */
export function Webhooks(): ReactNode {
  const { webhook } = useSearch({ from: "/organization/$part" });
  return webhook === undefined ? <WebhookList /> : <WebhookView key={webhook} id={webhook} />;
}

function WebhookList(): ReactNode {
  const texts = useMessages(messages);
  const { columns } = texts;
  const [page, setPage] = useState(1);
  const [isNew, setIsNew] = useState(false);
  const [secret, setSecret] = useState<string>();
  const webhooks = useQuery(webhooksQuery(useHoldfast(), page));
  useShortcuts([{ keys: "n", label: texts.keys.make, run: () => setIsNew(true) }]);
  return (
    <Stack>
      <Group justify="space-between">
        <Text size="sm" c="dimmed" flex="1 1 200px">
          {texts.text}
        </Text>
        <Button onClick={() => setIsNew(true)}>{texts.make}</Button>
      </Group>
      <QueryView query={webhooks}>
        {({ items, total_pages: total }) =>
          items.length === 0 ? (
            <Empty title={texts.empty} text={texts.emptyText} />
          ) : (
            <>
              <WideTable
                label={texts.label}
                columns={[columns.url, columns.of, columns.types, columns.state]}
              >
                {items.map((webhook) => (
                  <WebhookRow key={webhook.id} webhook={webhook} />
                ))}
              </WideTable>
              <PageControl page={page} total={total} onChange={setPage} />
            </>
          )
        }
      </QueryView>
      {isNew && (
        <WebhookForm
          onDone={(created) => {
            setIsNew(false);
            setSecret(created);
          }}
          onClose={() => setIsNew(false)}
        />
      )}
      {secret !== undefined && (
        <SecretOnce
          title={texts.made}
          text={texts.secretText}
          secret={secret}
          fileName="webhook-secret.txt"
          onClose={() => setSecret(undefined)}
        />
      )}
    </Stack>
  );
}

function WebhookRow({ webhook }: { readonly webhook: Webhook }): ReactNode {
  const texts = useMessages(messages);
  return (
    <Table.Tr>
      <Table.Td miw={200}>
        <Anchor
          size="sm"
          renderRoot={(props) => (
            <Link
              to="/organization/$part"
              params={{ part: "webhooks" }}
              search={{ webhook: webhook.id }}
              {...props}
            />
          )}
        >
          <Bidi>{webhook.url}</Bidi>
        </Anchor>
        {webhook.description !== null && (
          <Text size="xs" c="dimmed">
            <Bidi>{webhook.description}</Bidi>
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <EventsOf spaceId={webhook.space_id} />
      </Table.Td>
      <Table.Td>{webhook.types.length === 0 ? texts.allTypes : texts.types(webhook.types.length)}</Table.Td>
      <Table.Td>
        <StateBadge color={STATE_COLORS[webhook.status]}>{texts.states[webhook.status]}</StateBadge>
      </Table.Td>
    </Table.Tr>
  );
}
