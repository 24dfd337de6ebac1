/* What htmx and plain HTML cannot do: dialogs, menus, keys, copying, toasts
   and the beat of live refresh. Every page works without this file; elements
   that need it carry data-js and are hidden until theme.js has run. */
(function () {
  'use strict';
  var doc = document;
  var root = doc.documentElement;

  function one(selector, from) { return (from || doc).querySelector(selector); }
  function all(selector, from) { return Array.from((from || doc).querySelectorAll(selector)); }
  /* on: one listener on the document for elements that come and go. */
  function on(type, selector, act) {
    doc.addEventListener(type, function (e) {
      var el = e.target.closest && e.target.closest(selector);
      if (el) act(e, el);
    });
  }

  /* ---------- theme ---------- */
  function turnTheme() {
    window.axTheme(root.getAttribute('data-bs-theme') === 'dark' ? 'light' : 'dark');
    sayTheme();
  }
  function sayTheme() {
    all('[data-ax-theme-set]').forEach(function (b) {
      if (b.hasAttribute('aria-pressed')) {
        b.setAttribute('aria-pressed', String(b.dataset.axThemeSet === root.dataset.axTheme));
      }
    });
  }
  on('click', '[data-ax-theme-set]', function (e, b) {
    if (b.dataset.axThemeSet === 'turn') return turnTheme();
    window.axTheme(b.dataset.axThemeSet);
    sayTheme();
  });
  sayTheme();

  /* ---------- dialogs ---------- */
  function open(dialog) {
    if (!dialog || dialog.open) return;
    dialog.showModal();
    var first = one('[autofocus], input:not([type=hidden]), textarea, select', dialog);
    if (first) first.focus();
  }
  on('click', '[data-ax-dialog]', function (e, a) {
    var dialog = doc.getElementById(a.dataset.axDialog);
    if (!dialog || !dialog.showModal) return;
    e.preventDefault();
    open(dialog);
  });
  /* A question that came as a fragment opens over the page that asked. */
  doc.addEventListener('htmx:after:swap', function () {
    var dialog = one('dialog[data-ax-show]');
    if (!dialog || dialog.open) return;
    open(dialog);
    dialog.addEventListener('close', function () { dialog.remove(); }, { once: true });
  });
  on('click', '[data-ax-close]', function (e, b) {
    var dialog = b.closest('dialog');
    if (dialog && dialog.open) {
      e.preventDefault();
      dialog.close();
    }
  });
  /* A click on the dark ground closes; the press must have begun there too. */
  on('mousedown', 'dialog[open]', function (e, d) {
    if (e.target === d) d.addEventListener('click', function (c) { if (c.target === d) d.close(); }, { once: true });
  });

  /* hx-confirm="Question" asks in the page's own dialog. htmx waits for one
     of the two answers, so closing must answer too. */
  doc.addEventListener('htmx:confirm', function (e) {
    var ask = doc.getElementById('ax-ask');
    if (!ask || !e.detail.ctx || !e.detail.ctx.confirm) return;
    e.preventDefault();
    var source = e.detail.ctx.sourceElement;
    one('[data-ax-question]', ask).textContent = e.detail.ctx.confirm;
    one('[value=yes]', ask).textContent = (source && source.dataset.axVerb) || one('[value=yes]', ask).dataset.axDefault;
    ask.returnValue = '';
    ask.addEventListener('close', function () {
      if (ask.returnValue === 'yes') e.detail.issueRequest(); else e.detail.dropRequest();
    }, { once: true });
    ask.showModal();
  });

  /* ---------- menus and drawer ---------- */
  doc.addEventListener('click', function (e) {
    all('details.menu[open]').forEach(function (m) { if (!m.contains(e.target)) m.open = false; });
    if (location.hash === '#nav' && !e.target.closest('#nav, .nav-open')) location.hash = 'main';
  });
  function closeTop() {
    var menu = one('details.menu[open]');
    if (menu) {
      menu.open = false;
      one('summary', menu).focus();
      return;
    }
    if (location.hash === '#nav') {
      location.hash = 'main';
      var opener = one('.nav-open');
      if (opener) opener.focus();
    }
  }

  /* ---------- copying ---------- */
  on('click', '[data-ax-copy]', function (e, b) {
    var from = b.dataset.axCopyFrom && doc.getElementById(b.dataset.axCopyFrom);
    var text = from ? from.textContent : b.dataset.axCopy;
    navigator.clipboard.writeText(text).then(function () { toast({ text: b.dataset.axCopied }); });
  });

  /* ---------- toasts ---------- */
  function toast(say) {
    var box = doc.getElementById('ax-toasts');
    var made = one('#ax-toast-' + (say.kind === 'bad' ? 'bad' : 'ok'));
    if (!box || !made || !say.text) return;
    var t = made.content.firstElementChild.cloneNode(true);
    one('[data-text]', t).textContent = say.text;
    one('[data-detail]', t).textContent = say.detail || '';
    box.append(t);
    fade(t);
  }
  /* What reports a failure stays until it is closed. */
  function fade(t) {
    if (t.dataset.axToast === 'bad') return;
    var timer = setInterval(function () {
      if (t.matches(':hover, :focus-within')) return;
      clearInterval(timer);
      t.remove();
    }, 8000);
  }
  on('click', '[data-ax-toast-close]', function (e, b) { b.closest('[data-ax-toast]').remove(); });
  doc.addEventListener('ax:toast', function (e) { toast(e.detail); });
  all('#ax-toasts [data-ax-toast]').forEach(fade);

  /* ---------- live refresh ----------
     Fragments listen with hx-trigger="ax-refresh from:body". One beat for the
     page: it rests while the tab is hidden, a dialog is open, rows are ticked
     or somebody types in the page. */
  var live = one('[data-ax-live]');
  var paused = false;
  function busy() {
    var at = doc.activeElement;
    return doc.hidden || one('dialog[open]') || one('main [data-ax-select]:checked') ||
      (at && at.closest('main') && at.matches('input, textarea, select'));
  }
  function refresh() { doc.body.dispatchEvent(new CustomEvent('ax-refresh')); }
  function say(state) {
    if (!live) return;
    live.dataset.axState = state;
    one('[data-ax-live-word]', live).textContent = live.dataset[{ live: 'axWordLive', paused: 'axWordPaused', lost: 'axWordLost' }[state]];
  }
  function stamp() {
    var at = live && one('[data-ax-live-at]', live);
    if (!at) return;
    at.textContent = new Date().toLocaleTimeString('en-GB', { timeZone: live.dataset.axZone });
  }
  if (live) {
    var every = Number(live.dataset.axLive) * 1000;
    if (every > 0) setInterval(function () { if (!paused && !busy()) refresh(); }, every);
    /* A log that goes on is asked for more often than the page. */
    if (every > 0) setInterval(function () {
      if (!paused && one('[data-ax-follow]') && !busy()) doc.body.dispatchEvent(new CustomEvent('ax-follow'));
    }, 500);
    live.addEventListener('click', function (e) {
      e.preventDefault();
      paused = !paused;
      live.setAttribute('aria-pressed', String(paused));
      say(paused ? 'paused' : 'live');
      if (!paused) refresh();
    });
    doc.addEventListener('visibilitychange', function () { if (!doc.hidden && !paused) refresh(); });
    doc.addEventListener('htmx:after:swap', function (e) {
      if (!e.detail.ctx.response || e.detail.ctx.response.status >= 400) return; // told below
      stamp();
      if (!paused) say('live');
    });
    doc.addEventListener('htmx:error', function () { say('lost'); });
    doc.addEventListener('htmx:response:error', function (e) {
      if (e.detail.ctx.response.status >= 500) say('lost');
    });
  }

  /* ---------- keys ---------- */
  var keysOff = false;
  try { keysOff = localStorage.getItem('ax_keys') === 'off'; } catch (e) { /* storage refused: keys stay on */ }
  function sayKeys() {
    all('[data-ax-keys]').forEach(function (b) { b.checked = !keysOff; });
  }
  on('change', '[data-ax-keys]', function (e, b) {
    keysOff = !b.checked;
    try { localStorage.setItem('ax_keys', keysOff ? 'off' : 'on'); } catch (x) { /* for this page only */ }
  });
  sayKeys();

  var afterG = 0;
  function focusOn(selector) {
    var el = one(selector);
    if (el) { el.focus(); if (el.select) el.select(); }
    return !!el;
  }
  function row(step) {
    var links = all('[data-ax-list] a.nm').filter(function (a) { return a.offsetParent; });
    if (!links.length) return;
    var at = links.indexOf(doc.activeElement && doc.activeElement.closest('a.nm'));
    var next = at < 0 ? (step > 0 ? 0 : links.length - 1) : Math.min(links.length - 1, Math.max(0, at + step));
    links[next].focus();
  }
  function tick() {
    var line = doc.activeElement.closest('[data-ax-list] tr, [data-ax-list] li');
    var box = line && one('[data-ax-select]', line);
    if (box) box.click();
  }
  var keys = {
    '/': function () { return focusOn('main [data-ax-filter]') || focusOn('#ax-find'); },
    '?': function () { open(doc.getElementById('ax-help')); },
    'r': refresh,
    't': turnTheme,
    'j': function () { row(1); },
    'k': function () { row(-1); },
    'x': tick,
    'g': function () { afterG = Date.now(); }
  };
  function typing(el) { return el.isContentEditable || el.matches('input:not([type=checkbox]):not([type=radio]), textarea, select'); }
  doc.addEventListener('keydown', function (e) {
    if (e.key === 'Escape') return closeTop();
    if (e.key === 'k' && (e.ctrlKey || e.metaKey) && !e.altKey) {
      if (focusOn('#ax-find')) e.preventDefault();
      return;
    }
    if (keysOff || e.ctrlKey || e.metaKey || e.altKey || e.isComposing || typing(e.target) || one('dialog[open]')) return;
    if (Date.now() - afterG < 1500 && /^[a-z]$/.test(e.key)) {
      afterG = 0;
      var link = one('[data-ax-go="' + e.key + '"]');
      if (link) { e.preventDefault(); link.click(); }
      return;
    }
    if (!Object.hasOwn(keys, e.key)) return;
    e.preventDefault();
    keys[e.key]();
  });
})();
