import { Code, Table, Text } from "@mantine/core";
import type { Schemas } from "@holdfast/client";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useHoldfast } from "../../app/context.ts";
import { useFormats } from "../../messages/formats.ts";
import { useMessages } from "../../messages/messages.ts";
import { StateBadge } from "../../parts/lists/state-badge.tsx";
import { WideTable } from "../../parts/lists/wide-table.tsx";
import { QueryView } from "../../parts/query-view.tsx";
import { Ago } from "../../parts/time.tsx";
import { messages } from "./messages.ts";
import { dependenciesQuery } from "./queries.ts";
import { Section } from "./section.tsx";

export function Dependencies(): ReactNode {
  const texts = useMessages(messages).dependencies;
  const { columns } = texts;
  const query = useQuery(dependenciesQuery(useHoldfast()));
  return (
    <Section title={texts.title}>
      <QueryView query={query}>
        {({ dependencies }) => (
          <WideTable
            label={texts.title}
            columns={[columns.name, columns.state, columns.version, columns.latency, columns.since]}
          >
            {dependencies.map((dependency) => (
              <Row key={dependency.name} dependency={dependency} />
            ))}
          </WideTable>
        )}
      </QueryView>
    </Section>
  );
}

function Row({ dependency }: { readonly dependency: Schemas["Dependency"] }): ReactNode {
  const texts = useMessages(messages).dependencies;
  const formats = useFormats();
  const { name, kind, ok, version, code, latency_ms: latency } = dependency;
  const { failing_since: since, next_attempt_at: next } = dependency;
  return (
    <Table.Tr>
      <Table.Td>
        {texts.names[name]}
        {kind !== null && (
          <Text size="xs" c="dimmed">
            {kind}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        {ok === null && <StateBadge color="gray">{texts.unknown}</StateBadge>}
        {ok === true && <StateBadge color="green">{texts.ok}</StateBadge>}
        {ok === false && <StateBadge color="red">{texts.failing}</StateBadge>}
        {code !== null && (
          <div>
            <Code>{code}</Code>
          </div>
        )}
      </Table.Td>
      <Table.Td>{version}</Table.Td>
      <Table.Td>{latency !== null && formats.duration(latency)}</Table.Td>
      <Table.Td>
        {since !== null && <Ago at={since} />}
        {next !== null && (
          <Text size="xs" c="dimmed">
            {texts.next}: {formats.time(next)}
          </Text>
        )}
      </Table.Td>
    </Table.Tr>
  );
}
