/* Runs in <head> before the first paint. The server renders light or dark
   from the cookie ax_theme; only "auto" has to ask the system here. */
(function () {
  'use strict';
  var root = document.documentElement;
  root.setAttribute('data-ax-js', '');
  var dark = matchMedia('(prefers-color-scheme: dark)');
  function apply() {
    var want = root.getAttribute('data-ax-theme');
    if (want !== 'light' && want !== 'dark') want = dark.matches ? 'dark' : 'light';
    root.setAttribute('data-bs-theme', want);
  }
  apply();
  dark.addEventListener('change', apply);
  /* app.js calls this from the theme button and the account menu. */
  window.axTheme = function (want) {
    root.setAttribute('data-ax-theme', want);
    document.cookie = 'ax_theme=' + want + '; path=/; max-age=31536000; SameSite=Lax' +
      (location.protocol === 'https:' ? '; Secure' : '');
    apply();
  };
})();
