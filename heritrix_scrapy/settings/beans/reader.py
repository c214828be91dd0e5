"""How do the elements of a job file become beans?

The part of Spring's XML that jobs use, and what is near it. What changes nothing here (``context:annotation-config``,
autowiring, scopes of beans) is passed over; what would be needed and cannot be done is told in the report.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from heritrix_scrapy.settings.beans.elements import SPRING, Element, parse
from heritrix_scrapy.settings.beans.expressions import placeholders
from heritrix_scrapy.settings.beans.model import (
    Bean,
    Beans,
    Items,
    JobError,
    KeyRef,
    Map,
    Null,
    Place,
    Ref,
    Text,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from heritrix_scrapy.settings.beans.report import Report

BEANS = frozenset({"", SPRING + "beans"})
LANG = SPRING + "lang"
UTIL = SPRING + "util"
PROPERTY = SPRING + "p"

#: Elements that stand for nothing that has to be done here.
PASSED_OVER = frozenset({"description", "annotation-config", "component-scan", "meta"})

ORDER_XML = (
    'this is an order.xml of Heritrix 1.x, which is not read; the page "Coming from Heritrix" of the documentation'
    " has a table of its settings"
)


class Reader:
    """Reads a file and those it imports. ``environment``: what ``${NAME}`` in an import may stand for."""

    def __init__(self, report: Report, environment: Mapping[str, str]) -> None:
        self.beans = Beans()
        self._report = report
        self._environment = environment

    def read(self, path: Path) -> None:
        """Raises JobError."""
        self._file(path, (), None)

    def _file(self, path: Path, before: tuple[Path, ...], place: Place | None) -> None:
        try:
            root = parse(path)
        except JobError as error:
            raise error if error.place else JobError(place, error.message) from None
        if root.tag == "crawl-order":
            raise JobError(root.place, ORDER_XML)
        if root.tag == "bean":
            self.beans.add(self._bean(root))
            return
        if root.tag != "beans" or root.space not in BEANS:
            raise JobError(root.place, f"expected the element beans of a Heritrix 3 job, not {root.tag}")
        self._beans(root, path, (*before, path.resolve()))

    def _beans(self, root: Element, path: Path, files: tuple[Path, ...]) -> None:
        for element in root.children:
            if element.space == LANG:
                self._script(element)
            elif element.tag == "bean":
                self.beans.add(self._bean(element))
            elif element.tag == "import":
                self._import(element, path, files)
            elif element.tag == "alias":
                self.beans.alias(element.attributes.get("name", ""), element.attributes.get("alias", ""))
            elif element.tag == "beans":
                if element.attributes.get("profile"):
                    self._report.lost(element.place, "beans", "profile", "profiles of beans are not chosen")
                else:
                    self._beans(element, path, files)
            elif element.space == UTIL:
                self._util(element)
            elif element.tag not in PASSED_OVER:
                self._report.lost(
                    element.place,
                    element.attributes.get("id", element.tag),
                    "",
                    f"the element {element.tag} is not read",
                )

    def _import(self, element: Element, path: Path, files: tuple[Path, ...]) -> None:
        written = element.attributes.get("resource", "")
        resource = placeholders(written, self._environment)
        if "${" in resource:
            raise JobError(element.place, f"cannot import {written!r}: nothing says what it stands for")
        resource = re.sub(r"^file:(?://(?=/))?", "", resource)
        if not resource or resource.startswith(("classpath", "http:", "https:", "//")):
            raise JobError(element.place, f"cannot import {written!r}: only files are imported")
        target = path.parent / resource
        if target.resolve() in files:
            raise JobError(element.place, f"{target} imports itself, by way of {path}")
        self._file(target, files, element.place)

    def _script(self, element: Element) -> None:
        inline = next((child.text for child in element.children if child.tag == "inline-script"), None)
        source = inline if inline is not None else element.attributes.get("script-source", "")
        name = element.attributes.get("id", element.tag)
        self.beans.add(Bean(name, f"lang.{element.tag}", element.place, script=source.strip()))

    def _util(self, element: Element) -> None:
        value = self._value(element)
        name = element.attributes.get("id")
        if name:
            self.beans.add(Bean(name, f"java.util.{element.tag}", element.place, arguments=[value]))

    # -- beans and values -----------------------------------------------------------------------------------------

    def _bean(self, element: Element) -> Bean:
        attributes = element.attributes
        names = tuple(attributes.get("name", "").replace(";", ",").replace(" ", ",").split(","))
        bean = Bean(
            attributes.get("id", ""),
            attributes.get("class", "").strip(),
            element.place,
            names=tuple(name for name in names if name),
            candidate=attributes.get("autowire-candidate") != "false",
        )
        for needed in ("parent", "factory-bean", "factory-method"):
            if needed in attributes:
                self._report.lost(element.place, bean.name, needed, f"a bean made by {needed} is not made")
        if not bean.kind and "parent" not in attributes and "factory-bean" not in attributes:
            raise JobError(element.place, f"the bean {bean.id or '(without a name)'} has no class")
        for name, text in attributes.items():
            space, _, local = name.rpartition(" ")
            if space == PROPERTY:
                if local.endswith("-ref"):
                    bean.properties[local.removesuffix("-ref")] = Ref(text, element.place)
                else:
                    bean.properties[local] = Text(text, element.place)
        for child in element.children:
            if child.tag == "property":
                name = child.attributes.get("name", "")
                if not name:
                    raise JobError(child.place, f"a property of {bean.name} has no name")
                if name in bean.properties:
                    raise JobError(child.place, f"the property {name} of {bean.name} is written twice")
                bean.properties[name] = self._held(child)
            elif child.tag == "constructor-arg":
                bean.arguments.append(self._held(child))
            elif child.tag not in PASSED_OVER:
                self._report.lost(child.place, bean.name, child.tag, f"the element {child.tag} is not read here")
        return bean

    def _held(self, element: Element) -> Value:
        """The value of a property, a constructor argument or a map's entry."""
        attributes = element.attributes
        if "value" in attributes:
            return Text(attributes["value"], element.place)
        if "ref" in attributes or "value-ref" in attributes:
            return Ref(attributes.get("ref") or attributes["value-ref"], element.place)
        inner = [child for child in element.children if child.tag not in PASSED_OVER and child.tag != "key"]
        if len(inner) > 1:
            raise JobError(inner[1].place, f"{element.tag} {attributes.get('name', '')} has two values")
        if inner:
            return self._value(inner[0])
        return Text(element.text, element.place)

    def _value(self, element: Element) -> Value:
        place = element.place
        match element.tag:
            case "value":
                return Text(element.text, place)
            case "null":
                return Null(place)
            case "ref" | "idref":
                name = next(
                    (element.attributes[key] for key in ("bean", "local", "parent") if key in element.attributes), ""
                )
                if not name:
                    raise JobError(place, f"{element.tag} names no bean")
                return Ref(name, place) if element.tag == "ref" else Text(name, place)
            case "bean":
                return self._bean(element)
            case "list" | "set" | "array":
                values: list[Value] = []
                for part in element.parts:
                    if isinstance(part, Element):
                        if part.tag not in PASSED_OVER:
                            values.append(self._value(part))
                    else:
                        # an included list, one entry a line
                        values += [Text(line.strip(), place) for line in part.splitlines() if line.strip()]
                return Items(values, place)
            case "map":
                return Map(dict(self._entry(child) for child in element.children if child.tag == "entry"), place)
            case "props" | "properties":
                return Map(
                    {
                        child.attributes.get("key", ""): Text(child.text, child.place)
                        for child in element.children
                        if child.tag == "prop"
                    },
                    place,
                )
        raise JobError(place, f"the element {element.tag} is no value")

    def _entry(self, element: Element) -> tuple[str, Value]:
        if "key-ref" in element.attributes:
            return KeyRef(element.attributes["key-ref"]), self._held(element)
        key = element.attributes.get("key")
        if key is None:
            holder = next((child for child in element.children if child.tag == "key"), None)
            if holder is None:
                raise JobError(element.place, "an entry of a map has no key")
            inner = [self._value(child) for child in holder.children]
            if inner and isinstance(inner[0], Ref):
                return KeyRef(inner[0].name), self._held(element)
            key = "".join(part.text for part in inner if isinstance(part, Text)) or holder.text
        return key.strip(), self._held(element)
