(async () => {
  const api = await (await fetch("openapi.json")).json(), main = document.querySelector("main");
  main.append(make("p", "", link(".", page.back), " · ", link("openapi.json", "openapi.json")));
  for (const [path, methods] of Object.entries(api.paths))
    for (const [method, entry] of Object.entries(methods)) {
      main.append(make("h2", method.toUpperCase() + " " + path), make("p", entry.summary));
      if (entry.description) main.append(make("p", entry.description));
      const content = entry.requestBody && entry.requestBody.content["application/json"];
      for (const example of Object.values(content && content.examples || {})) {
        const value = make("pre", JSON.stringify(example.value, null, 1));
        main.append(make("p", example.summary), value);
      }
      for (const [status, answer] of Object.entries(entry.responses))
        main.append(make("p", status + "  " + answer.description));
    }
})();
