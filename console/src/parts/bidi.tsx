import type { ReactNode } from "react";

/**
 * A name or text of people, which may be written from right to left; the words around it stay in their order.
 */
export function Bidi({ children }: { readonly children: string }): ReactNode {
  return (
    <bdi dir="auto" style={{ overflowWrap: "anywhere" }}>
      {children}
    </bdi>
  );
}
