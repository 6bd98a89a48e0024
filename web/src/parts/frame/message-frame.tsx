import { createContext, type ReactNode, use } from "react";
import { ConsoleFrame } from "./console-frame.tsx";
import { FocusPage } from "./focus-page.tsx";

/** Whether the places of the console, or those of the documents, stand around the page. */
export const InsideFrame = createContext(false);

type MessageFrameProps = { title: string; intro?: ReactNode; children?: ReactNode };

/** What stands in the place of a page: inside the console as one of its pages, elsewhere as a page of its own. */
export function MessageFrame({ title, intro, children }: MessageFrameProps) {
  const isInside = use(InsideFrame);
  return isInside ? (
    <ConsoleFrame title={title} intro={intro}>
      {children}
    </ConsoleFrame>
  ) : (
    <FocusPage title={title} intro={intro}>
      {children}
    </FocusPage>
  );
}
