const SHORT = 600;

/**
 * Keeps the page as high as what can be seen of it: where an on-screen keyboard lies over the page
 * instead of making it smaller, what one types into would otherwise be below it.
 */
export function followVisibleHeight(browser: Window): void {
  const seen = browser.visualViewport;
  if (!seen) return;
  const { style, dataset } = browser.document.documentElement;

  const follow = (): void => {
    if (seen.scale !== 1) return; // zoomed in by two fingers: that is no keyboard
    style.setProperty('--visible-height', `${Math.round(seen.height)}px`);
    // a small window, a page at twice its size, or a keyboard: media queries do not know of the last
    dataset.short = String(seen.height <= SHORT);
    // some browsers push the page up under the keyboard; it is as high as the rest, so nothing is cut
    if (seen.offsetTop > 0) browser.scrollTo(0, 0);
  };

  seen.addEventListener('resize', follow);
  seen.addEventListener('scroll', follow);
  follow();
}
