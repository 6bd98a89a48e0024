import { type RefObject, useLayoutEffect, useState } from "react";

/** An element's width and page offset, kept current. */
export function usePlace(element: RefObject<HTMLElement | null>): { width: number; top: number } {
  const [place, setPlace] = useState({ width: 0, top: 0 });
  useLayoutEffect(() => {
    const measure = () => {
      const box = element.current?.getBoundingClientRect();
      if (box === undefined) return;
      const next = { width: Math.floor(box.width), top: Math.round(box.top + window.scrollY) };
      setPlace((last) => (last.width === next.width && last.top === next.top ? last : next));
    };
    measure();
    // Content above it moves it and changes the page height.
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    if (element.current !== null) observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return place;
}
