import { StrictMode } from "react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import { loadedBrand } from "./api/ask-brand.ts";
import { createQueryClient } from "./api/create-query-client.ts";
import { queryTable } from "./api/query-table.ts";
import { leaveForSignIn } from "./parts/session/leave-for-sign-in.ts";
import { createSiteRouter } from "./router.tsx";
import { Site } from "./site.tsx";
import "./site.css";

/** How long a page that the server sent stays as it was sent, where what makes it a living one does not come. */
const sentMsMax = 10_000;

const place = document.getElementById("site");
if (place === null) throw new Error("The page has no place for the site.");
const queries = createQueryClient({ onNotSignedIn: leaveForSignIn });
queries.setQueryData(queryTable.brand.now().queryKey, loadedBrand);
let isSent = place.hasChildNodes();
const router = createSiteRouter({ queries, isPatient: () => isSent });

// What the server sent is replaced by the same in one step: nothing blinks, and nothing moves.
if (isSent) {
  const waited = new Promise<void>((pass) => setTimeout(pass, sentMsMax));
  void Promise.race([router.load(), waited]).then(() => {
    takeOver(place);
    isSent = false;
  });
} else show(place);

/** Who has begun to read stays where they are, although the router takes what it shows first for a page that was opened. */
function takeOver(element: HTMLElement): void {
  const { scrollX, scrollY } = window;
  show(element);
  if (location.hash === "" || scrollY > 0) scrollTo(scrollX, scrollY);
}

function show(element: HTMLElement): void {
  const focused = listFocusable().indexOf(document.activeElement);
  const root = createRoot(element);
  // At once, so that the element in the place of the focused one can be focused in its stead.
  flushSync(() =>
    root.render(
      <StrictMode>
        <Site queries={queries} router={router} />
      </StrictMode>,
    ),
  );
  const heir = focused < 0 ? null : listFocusable()[focused];
  if (heir instanceof HTMLElement) heir.focus({ preventScroll: true });
}

function listFocusable(): (Element | null)[] {
  return [...document.querySelectorAll("#site :is(a, button, input, video)")];
}
