import { useLocation } from "@tanstack/react-router";
import { useEffect } from "react";

/** Scrolls to the URL's anchor once its element is rendered, and opens the details around it. */
export function useHashTarget(isThere: boolean): void {
  const { hash } = useLocation();
  useEffect(() => {
    if (!isThere || hash === "") return;
    const place = document.getElementById(decodeURIComponent(hash));
    for (let fold = place?.closest("details"); fold != null; fold = fold.parentElement?.closest("details")) {
      fold.open = true;
    }
    place?.scrollIntoView();
  }, [isThere, hash]);
}
