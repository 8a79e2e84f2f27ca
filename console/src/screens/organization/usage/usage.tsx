import { Alert, NativeSelect, SimpleGrid, Stack, Table, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useMemo, useState } from "react";
import { useHoldfast, useMe } from "../../../app/context.ts";
import { useFormats } from "../../../messages/formats.ts";
import { useMessages } from "../../../messages/messages.ts";
import { Empty } from "../../../parts/empty.tsx";
import { WideTable } from "../../../parts/lists/wide-table.tsx";
import { QueryView } from "../../../parts/query-view.tsx";
import { Budgets } from "./budgets.tsx";
import { Chart } from "./chart.tsx";
import { measured } from "./measured.ts";
import { messages } from "./messages.ts";
import { type Day, MEASURES, type Measure, daysOf, totalOf } from "./series.ts";
import { usageQuery } from "./usage-query.ts";
import { WhoAndWhat } from "./who-and-what.tsx";

const RANGES = [7, 30, 90] as const;
const USUAL_RANGE = 30;

/** What the organization uses: day by day as charts, by whom, and what is left of its budgets. */
export function Usage(): ReactNode {
  const texts = useMessages(messages);
  const { organization } = useMe();
  const [days, setDays] = useState<number>(USUAL_RANGE);
  const usage = useQuery(usageQuery(useHoldfast(), organization.id, days));
  return (
    <Stack gap="lg">
      <NativeSelect
        label={texts.range}
        description={texts.utc}
        data={RANGES.map((range) => ({ value: String(range), label: texts.days(range) }))}
        value={String(days)}
        onChange={(event) => setDays(Number(event.currentTarget.value))}
        maw={260}
      />
      <QueryView query={usage}>
        {({ rows, range, budget, isCut }) => (
          <>
            {isCut && (
              <Alert color="yellow" variant="light">
                {texts.cut}
              </Alert>
            )}
            {rows.length === 0 ? (
              <Empty title={texts.empty} text={texts.emptyText} />
            ) : (
              <Charts rows={rows} range={range} />
            )}
            <Budgets budget={budget} />
          </>
        )}
      </QueryView>
    </Stack>
  );
}

interface ChartsProps {
  readonly rows: Parameters<typeof daysOf>[0];
  readonly range: Parameters<typeof daysOf>[1];
}

function Charts({ rows, range }: ChartsProps): ReactNode {
  const texts = useMessages(messages);
  const formats = useFormats();
  const days = useMemo(() => daysOf(rows, range), [rows, range]);
  const total = useMemo(() => totalOf(rows), [rows]);
  return (
    <>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        {MEASURES.map((measure) => (
          <Stack key={measure} gap="xs" miw={0}>
            <Title order={2} size="h5">
              {texts.measures[measure]}: {measured(formats, measure, total[measure])}
            </Title>
            <DayChart measure={measure} days={days} total={measured(formats, measure, total[measure])} />
          </Stack>
        ))}
      </SimpleGrid>
      <details>
        <Text component="summary" size="sm" style={{ cursor: "pointer" }}>
          {texts.asTable}
        </Text>
        <DayTable days={days} />
      </details>
      <WhoAndWhat rows={rows} />
    </>
  );
}

interface DayChartProps {
  readonly measure: Measure;
  readonly days: readonly Day[];
  readonly total: string;
}

function DayChart({ measure, days, total }: DayChartProps): ReactNode {
  const texts = useMessages(messages);
  const formats = useFormats();
  const names = useMemo(() => days.map(({ day }) => day), [days]);
  const values = useMemo(() => days.map(({ sums }) => sums[measure]), [days, measure]);
  const format = useMemo(() => (value: number) => measured(formats, measure, value), [formats, measure]);
  return (
    <Chart
      label={texts.chart(texts.measures[measure], total)}
      days={names}
      values={values}
      format={format}
      formatDay={shortDay}
    />
  );
}

/** Month and day, as they stand in the row. */
const shortDay = (day: string): string => day.slice(5);

function DayTable({ days }: { readonly days: readonly Day[] }): ReactNode {
  const texts = useMessages(messages);
  const formats = useFormats();
  return (
    <WideTable
      label={texts.asTable}
      minWidth={480}
      columns={[texts.day, ...MEASURES.map((measure) => texts.measures[measure])]}
    >
      {days.map(({ day, sums }) => (
        <Table.Tr key={day}>
          <Table.Td>{day}</Table.Td>
          {MEASURES.map((measure) => (
            <Table.Td key={measure}>{measured(formats, measure, sums[measure])}</Table.Td>
          ))}
        </Table.Tr>
      ))}
    </WideTable>
  );
}
