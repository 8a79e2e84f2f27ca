import { type ReactNode, useSyncExternalStore } from "react";
import { useFormats } from "../messages/formats.ts";

const MINUTE_MS = 60_000;
const tick = (listener: () => void): (() => void) => {
  const timer = setInterval(listener, MINUTE_MS);
  return () => clearInterval(timer);
};
const minute = (): number => Math.floor(Date.now() / MINUTE_MS);

/** "3 minutes ago", with the whole date and time where the pointer rests. */
export function Ago({ at }: { readonly at: string }): ReactNode {
  useSyncExternalStore(tick, minute);
  const formats = useFormats();
  return (
    <time dateTime={at} title={formats.time(at)}>
      {formats.ago(at)}
    </time>
  );
}
